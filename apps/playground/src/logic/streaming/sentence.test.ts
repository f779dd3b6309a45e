import { expect, it } from 'vitest';
import { scoresOf, sentence, words } from './sentence.ts';
import { output, tileState } from './softmax-state.ts';

it('has scores of the last word whose maximum rises three times, up to “it”', () => {
  const scores = scoresOf(words.length - 1);
  const rises = scores.filter((x, j) => j > 0 && x > Math.max(...scores.slice(0, j)));
  expect(rises).toHaveLength(3);
  expect(words[scores.indexOf(Math.max(...scores))]).toBe('it');
});

it('lets “it” look most at an animal', () => {
  const scores = scoresOf(words.indexOf('it'));
  const others = scores.map((x, j) => (words[j] === 'it' ? Number.NEGATIVE_INFINITY : x));
  expect(words[others.indexOf(Math.max(...others))]).toBe('cat');
});

it('has values between 0 and 1, and so are their averages', () => {
  const o = output(tileState(scoresOf(0), sentence.v));
  for (const value of [...sentence.v.flat(), ...o]) {
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThanOrEqual(1);
  }
});
