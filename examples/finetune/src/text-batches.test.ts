import { expect, test } from 'vitest';
import { textBatches } from './text-batches.ts';

/** The token rows of the first batches. */
function rows(tokens: readonly number[], context: number, count: number): unknown[] {
  const batches = textBatches(tokens, context);
  return Array.from({ length: count }, () => batches.next().value.labels);
}

test('the parts cover the text to its end, then begin again', () => {
  expect(rows([1, 2, 3, 4, 5], 2, 4)).toEqual([[[1, 2]], [[3, 4]], [[4, 5]], [[1, 2]]]);
  expect(rows([1, 2, 3, 4], 2, 3)).toEqual([[[1, 2]], [[3, 4]], [[1, 2]]]);
});

test('a text that is shorter than a sequence is one part', () => {
  expect(rows([1, 2, 3], 8, 2)).toEqual([[[1, 2, 3]], [[1, 2, 3]]]);
});

test('a text and a context need two tokens', () => {
  expect(() => rows([1], 8, 1)).toThrow('text must have two tokens or more, got 1');
  expect(() => rows([1, 2], Number.NaN, 1)).toThrow('context must be an integer ≥ 2, got NaN');
});
