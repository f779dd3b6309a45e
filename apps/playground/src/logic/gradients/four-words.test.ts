import { expect, it } from 'vitest';
import { attentionNumbers } from './attention-numbers.ts';
import { finiteDifference } from './finite-difference.ts';
import { readElement, start } from './four-words.ts';

it('reads the elements of each matrix, and takes the default for elements that a matrix does not have', () => {
  expect(readElement('dQ31')).toEqual({ matrix: 'dQ', i: 3, j: 1 });
  expect(readElement('D20')).toEqual({ matrix: 'D', i: 2, j: 0 });
  const initial = { matrix: 'dS', i: 1, j: 2 };
  for (const name of ['dS44', 'Q02', 'D01', 'X00', 'dS1', '']) expect(readElement(name)).toEqual(initial);
});

// The chapter says that smaller steps are better down to 1e-5, and that rounding then takes over.
it('has difference quotients of q and k that approach the gradient until rounding takes over', () => {
  const { dQ, dK } = attentionNumbers(start);
  const largest = (h: number): number =>
    Math.max(
      ...(
        [
          ['q', dQ],
          ['k', dK],
        ] as const
      ).flatMap(([input, gradient]) =>
        gradient.flatMap((row, i) =>
          row.map((wanted, c) => Math.abs(finiteDifference(start, input, i, c, h) - wanted)),
        ),
      ),
    );
  const errors = [1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5].map(largest);
  expect(errors).toEqual([...errors].sort((a, b) => b - a));
  expect(largest(1e-6)).toBeGreaterThan(largest(1e-5));
});
