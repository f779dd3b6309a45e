import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { drawRecall, KEYS, recallVocabulary } from './recall.ts';

const [count, context] = [50, 24];
const batch = drawRecall(new PhiloxStream(3), count, context);
const { tokens, labels, questions } = batch;

test('a sequence shows each pair twice, keys and values in turn', () => {
  for (const sequence of tokens) {
    sequence.forEach((token, at) => {
      expect(token < KEYS).toBe(at % 2 === 0);
      expect(token).toBeLessThan(recallVocabulary.characters.length);
    });
    const pairs = Array.from({ length: 12 }, (_, p) => sequence.slice(2 * p, 2 * p + 2).join(' '));
    expect(new Set(pairs.slice(0, 6)).size).toBe(6);
    expect(pairs.slice(6).sort()).toEqual(pairs.slice(0, 6).sort());
  }
});

test('a question is a repeated key, and its answer is the value that followed the key before', () => {
  questions.forEach((all, n) => {
    expect(all).toHaveLength(6);
    for (const { from, to } of all) {
      expect(tokens[n][to - 1]).toBe(tokens[n][from]);
      expect(tokens[n][from + 1]).toBe(tokens[n][to]);
    }
  });
});

test('only answers are predicted', () => {
  labels.forEach((row, n) => {
    const counted = [...row.keys()].filter(at => row[at] !== -100);
    expect(counted).toEqual(questions[n].map(({ from }) => from + 1).sort((a, b) => a - b));
    for (const at of counted) expect(row[at]).toBe(tokens[n][at]);
  });
});

test('equal streams give equal batches, and a stream continues with new ones', () => {
  const stream = new PhiloxStream(3);
  expect(drawRecall(stream, count, context)).toEqual(batch);
  expect(drawRecall(stream, count, context).tokens).not.toEqual(tokens);
});

test('is written in letters and digits', () => {
  expect(recallVocabulary.decode([0, KEYS - 1, KEYS, 25])).toBe('AP09');
  expect([...recallVocabulary.encode('B1')]).toEqual([1, 17]);
});

test.each([3, 68])('a context of %i is refused', length => {
  expect(() => drawRecall(new PhiloxStream(0), 1, length)).toThrow(/context must be 4 to 67/);
});
