import { expect, test } from 'vitest';
import { drawHead } from './picture.ts';

const head = {
  names: ['A', '0', 'A'],
  weights: Float32Array.from([1, 0, 0, 0.5, 0.5, 0, 0.1, 0.9, 0]),
  questions: [{ row: 2, column: 1 }],
};

test('draws queries downwards and keys to the right, with what a question looks at', () => {
  expect(drawHead({ ...head, colour: false }).split('\n')).toEqual([
    '    A 0 A   ← keys',
    '  A ██',
    '  0 ▒▒▒▒',
    ' ?A   ██    0 gets 90%',
    ' ↑ queries',
  ]);
});

test('with colours, a cell is two spaces on a background that gets brighter', () => {
  const [, first, second] = drawHead({ ...head, colour: true }).split('\n');
  expect(first).toBe('  A \x1b[48;5;229m  \x1b[0m');
  expect(second).toBe('  0 \x1b[48;5;162m  \x1b[0m\x1b[48;5;162m  \x1b[0m');
});
