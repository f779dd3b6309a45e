import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { drawRecall, KEYS, recallVocabulary } from './recall.ts';

const [count, context] = [50, 24];
const batch = drawRecall(new PhiloxStream(3), count, context);
const { tokens, labels, weights, questions, sources } = batch;

test('a sequence shows each pair twice, keys and values in turn', () => {
  for (let n = 0; n < count; n++) {
    const sequence = [...tokens.subarray(n * context, (n + 1) * context)];
    sequence.forEach((token, at) => {
      expect(token < KEYS).toBe(at % 2 === 0);
      expect(token).toBeLessThan(recallVocabulary.characters.length);
    });
    const pairs = Array.from({ length: 12 }, (_, p) => sequence.slice(2 * p, 2 * p + 2).join(' '));
    expect(new Set(pairs.slice(0, 6)).size).toBe(6);
    expect(pairs.slice(6).sort()).toEqual(pairs.slice(0, 6).sort());
  }
});

test('a question is a key that comes again; its source holds the answer', () => {
  questions.forEach((at, n) => {
    expect(tokens[sources[n]]).toBe(labels[at]);
    expect(tokens[sources[n] - 1]).toBe(tokens[at]);
    expect(tokens[at + 1]).toBe(labels[at]);
    expect(Math.floor(sources[n] / context)).toBe(Math.floor(at / context));
  });
});

test('questions count, equally, and nothing else does', () => {
  const counted = [...weights.keys()].filter(at => weights[at] > 0);
  expect(counted).toEqual([...questions].sort((a, b) => a - b));
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
});

test('equal streams give equal batches, and a stream goes on to new ones', () => {
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
