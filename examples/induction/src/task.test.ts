import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { createBatch, KEYS, tokenName, VOCABULARY } from './task.ts';

const batch = createBatch(new PhiloxStream(3), 50, 6);
const { count, length, tokens, questions, answers, sources } = batch;

test('a sequence shows each pair twice, keys and values in turn', () => {
  expect(length).toBe(24);
  for (let n = 0; n < count; n++) {
    const sequence = [...tokens.subarray(n * length, (n + 1) * length)];
    sequence.forEach((token, at) => {
      expect(token < KEYS).toBe(at % 2 === 0);
      expect(token).toBeLessThan(VOCABULARY);
    });
    const pairs = Array.from({ length: 12 }, (_, p) => sequence.slice(2 * p, 2 * p + 2).join(' '));
    expect(new Set(pairs.slice(0, 6)).size).toBe(6);
    expect(pairs.slice(6).sort()).toEqual(pairs.slice(0, 6).sort());
  }
});

test('a question is a key that comes again; its source holds the answer', () => {
  questions.forEach((at, n) => {
    expect(tokens[sources[n]]).toBe(answers[n]);
    expect(tokens[sources[n] - 1]).toBe(tokens[at]);
    expect(tokens[at + 1]).toBe(answers[n]);
    expect(Math.floor(sources[n] / length)).toBe(Math.floor(at / length));
  });
});

test('equal streams give equal batches, and a stream goes on to new ones', () => {
  const stream = new PhiloxStream(3);
  expect(createBatch(stream, 50, 6)).toEqual(batch);
  expect(createBatch(stream, 50, 6).tokens).not.toEqual(tokens);
});

test('keys are letters and values digits', () => {
  expect([0, KEYS - 1, KEYS, VOCABULARY - 1].map(tokenName)).toEqual(['A', 'P', '0', '9']);
});
