import { expect, test } from 'vitest';
import { checkSampling, chooseToken } from './choose-token.ts';

const logits = [Math.log(1), Math.log(4), Math.log(3), Math.log(2)];

/** How often each token is chosen as u goes through [0, 1). */
function shares(options: Parameters<typeof chooseToken>[1]): number[] {
  const counts = [0, 0, 0, 0];
  for (let n = 0; n < 1000; n++) counts[chooseToken(logits, options, (n + 0.5) / 1000)]++;
  return counts.map(count => count / 1000);
}

test('temperature 1 chooses by the softmax of the logits', () => {
  expect(shares({ temperature: 1 })).toEqual([0.1, 0.4, 0.3, 0.2]);
});

test('a lower temperature prefers the likely ones, 0 takes the likeliest', () => {
  expect(shares({ temperature: 0.5 }).map(share => Math.round(share * 30))).toEqual([1, 16, 9, 4]);
  expect(shares({ temperature: 0 })).toEqual([0, 1, 0, 0]);
});

test('topK leaves the others out', () => {
  expect(shares({ temperature: 1, topK: 2 }).map(share => Math.round(share * 7))).toEqual([0, 4, 3, 0]);
  expect(shares({ temperature: 1, topK: 99 })).toEqual(shares({ temperature: 1 }));
});

test('large logits do not overflow, and of equal ones the first comes first', () => {
  expect(chooseToken([5000, 5000], { temperature: 1 }, 0.4)).toBe(0);
  expect(chooseToken([5000, 5000], { temperature: 1 }, 0.6)).toBe(1);
  expect(chooseToken([1, 2, 2], { temperature: 0 }, 0)).toBe(1);
});

test.each([
  [{ temperature: -1 }, /temperature must be 0 or more, got -1/],
  [{ temperature: Number.NaN }, /temperature must be 0 or more, got NaN/],
  [{ temperature: 1, topK: 0 }, /topK must be a whole number of at least 1, got 0/],
])('%j is refused', (options, message) => {
  expect(() => checkSampling(options)).toThrow(message);
});
