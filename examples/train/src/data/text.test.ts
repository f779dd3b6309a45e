import { InvalidArgumentError } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { textDataset } from './text.ts';
import { vocabularyOf } from './vocabulary.ts';

const text = `${'to be or not to be '.repeat(9)}${'§'.repeat(19)}`;
const data = textDataset(text);
const [count, context] = [40, 7];

test('labels are the next characters, and all count the same', () => {
  const { tokens, labels, weights } = data.draw(new PhiloxStream(1), count, context, 'training');
  for (let n = 0; n < count; n++) {
    const range = [n * context, (n + 1) * context] as const;
    const [read, next] = [tokens, labels].map(list => data.vocabulary.decode(list.subarray(...range)));
    expect(text).toContain(read + next.slice(-1));
    expect(next.slice(0, -1)).toBe(read.slice(1));
  }
  expect(new Set(weights).size).toBe(1);
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
});

test('the end is held out: training never sees it', () => {
  const seen = (part: 'training' | 'held out'): string => {
    const { tokens, labels } = data.draw(new PhiloxStream(1), count, context, part);
    return data.vocabulary.decode([...tokens, ...labels]);
  };
  expect(seen('training')).not.toContain('§');
  expect(new Set(seen('held out'))).toEqual(new Set('§'));
});

test('characters are code points, in their order', () => {
  expect(textDataset('ba😀a').vocabulary.characters).toEqual(['a', 'b', '😀']);
});

test('with the vocabulary of a model, a character that it has never seen is an error that says which', () => {
  expect(() => textDataset('abc', vocabularyOf(['a', 'b']))).toThrow(
    /text has "c", which the model has never seen/,
  );
});

test('a text that is too short for the context is an error that says by how much', () => {
  expect(() => textDataset('')).toThrow(InvalidArgumentError);
  expect(() => data.draw(new PhiloxStream(0), 1, 50, 'held out')).toThrow(
    /more than 50 characters in its held out part, the context, got 19/,
  );
});
