import { InvalidArgumentError } from '@tilewise/core';
import { characterTokenizer } from '@tilewise/nn';
import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { textDataset } from './text.ts';

const text = `${'to be or not to be '.repeat(9)}${'§'.repeat(19)}`;
const data = textDataset(text);
const [count, context] = [40, 7];

test('sequences are parts of the text, in which every character is predicted', () => {
  const { tokens, labels } = data.draw(new PhiloxStream(1), count, context, 'training');
  expect(labels).toEqual(tokens);
  for (const row of tokens) {
    expect(row).toHaveLength(context);
    expect(text).toContain(data.vocabulary.decode(row));
  }
  expect(new Set(tokens.map(String)).size).toBeGreaterThan(10);
});

test('the end is held out: training never sees it', () => {
  const seen = (part: 'training' | 'held out'): string =>
    data.vocabulary.decode(data.draw(new PhiloxStream(1), count, context, part).tokens.flat());
  expect(seen('training')).not.toContain('§');
  expect(new Set(seen('held out'))).toEqual(new Set('§'));
});

test('with the vocabulary of a model, an error names an unknown character', () => {
  expect(() => textDataset('abc', characterTokenizer(['a', 'b']))).toThrow(
    /text has "c", which has no token/,
  );
});

test('an error says by how much a text is too short for the context', () => {
  expect(() => textDataset('')).toThrow(InvalidArgumentError);
  expect(() => data.draw(new PhiloxStream(0), 1, 50, 'held out')).toThrow(
    /at least 50 characters in its held out part, the context, got 19/,
  );
});
