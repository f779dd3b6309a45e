import { expect, test } from 'vitest';
import { drawHead } from './picture.ts';

const weights = Float32Array.from([1, 0, 0, 0.5, 0.5, 0, 0.1, 0.9, 0]);
const draw = (colour: boolean): string => drawHead(['A', '0', 'A'], weights, [{ from: 2, to: 1 }], colour);

test('draws queries downwards and keys to the right, with the cell that a question looks at', () => {
  expect(draw(false).split('\n')).toEqual([
    '    A 0 A   ← keys',
    '  A ██',
    '  0 ▒▒▒▒',
    ' ?A   ██    0 gets 90%',
    ' ↑ queries',
  ]);
});

test('with colours, a cell is two spaces on a background that gets brighter', () => {
  const [, first, second] = draw(true).split('\n');
  expect(first).toBe('  A \x1b[48;5;229m  \x1b[0m');
  expect(second).toBe('  0 \x1b[48;5;162m  \x1b[0m\x1b[48;5;162m  \x1b[0m');
});
