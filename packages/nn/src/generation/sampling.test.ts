import { PhiloxStream } from '@tilewise/philox';
import { processorTime } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { chooseToken, type SamplingOptions } from './sampling.ts';

/** The choice by definition: all tokens are sorted. */
function sortedChoice(logits: Float32Array, options: SamplingOptions, step: number): number {
  const { temperature = 1, topK = logits.length, topP = 1, minP = 0, seed = 0 } = options;
  const order = Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
  const kept = order.slice(0, topK);
  const weights = kept.map(token => Math.exp((logits[token] - logits[kept[0]]) / temperature));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let covered = 0;
  const chosen = weights.filter((weight, n) => {
    const isIn = n === 0 || (covered < topP * sum && weight >= minP);
    covered += weight;
    return isIn;
  });
  const left = chosen.reduce((total, weight) => total + weight, 0);
  let rest = new PhiloxStream(seed, { offset: BigInt(step) }).nextUniform() * left;
  const at = chosen.findIndex(weight => {
    rest -= weight;
    return rest <= 0;
  });
  return kept[at < 0 ? chosen.length - 1 : at];
}

const cases: SamplingOptions[] = [
  { temperature: 1 },
  { temperature: 0.7, topK: 5 },
  { temperature: 1.3, topP: 0.6 },
  { temperature: 1, minP: 0.2 },
  { temperature: 0.9, topK: 20, topP: 0.8, minP: 0.05 },
  { temperature: 3, topK: 1 },
  { temperature: 1, topP: 1e-9 },
  { temperature: 1, topK: 1000, topP: 1 },
  // The scores of the tokens that are kept span many temperatures, or less than one.
  { temperature: 1e-4, topK: 90 },
  { temperature: 1e-3, topP: 0.99, minP: 1e-9 },
  { temperature: 100, topP: 0.9 },
];

test.each(cases)('%j chooses as if all tokens were sorted', options => {
  const random = new PhiloxStream(7);
  for (let step = 0; step < 50; step++) {
    // Coarse numbers, so that some are equal.
    const logits = Float32Array.from({ length: 97 }, () => Math.round(random.nextNormal() * 8) / 4);
    const found = chooseToken(logits, [], { ...options, seed: 3 }, { row: 0, step });
    expect(found).toBe(sortedChoice(logits, { ...options, seed: 3 }, step));
  }
});

test('top-p on a large vocabulary does not sort all of it', () => {
  const random = new PhiloxStream(1);
  const logits = Float32Array.from({ length: 150_000 }, () => 4 * random.nextNormal());
  const time = (work: () => void): number => {
    const start = processorTime();
    for (let n = 0; n < 5; n++) work();
    return processorTime() - start;
  };
  const sorted = time(() => Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a]));
  const chosen = time(() => chooseToken(logits, [], { temperature: 1, topP: 0.5 }, { row: 0, step: 0 }));
  expect(chosen).toBeLessThan(sorted);
});

test('a token of a vocabulary of 262,144 takes less than an eighth of the time of sorting it', () => {
  const random = new PhiloxStream(1);
  // Most tokens are far less likely than a few.
  const logits = Float32Array.from({ length: 262_144 }, () => 2 * random.nextNormal());
  for (let token = 0; token < 20; token++) logits[token * 5000] = 12 + random.nextNormal();
  const time = (work: () => void): number => {
    const start = processorTime();
    work();
    return processorTime() - start;
  };
  const sorted = time(() => Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a]));
  const options = { temperature: 0.8, topK: 50, topP: 0.95 };
  const chosen = Array.from({ length: 7 }, () =>
    time(() => chooseToken(logits, [], options, { row: 0, step: 0 })),
  );
  // The first calls are slow, because they are not compiled yet.
  expect(Math.min(...chosen)).toBeLessThan(sorted / 8);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])('logits of %s are refused', wrong => {
  for (const temperature of [0, 1])
    expect(() => chooseToken(Float32Array.of(1, wrong), [], { temperature }, { row: 0, step: 0 })).toThrow(
      'logits must have no NaN and no Infinity',
    );
});

test('tokens with a logit of −Infinity are not chosen', () => {
  const logits = Float32Array.of(-Infinity, 0, -Infinity);
  for (const options of [{}, { temperature: 1 }, { temperature: 1, topP: 0.9, minP: 0.1 }])
    expect(chooseToken(logits, [0], { ...options, repetitionPenalty: 2 }, { row: 0, step: 0 })).toBe(1);
});

test('without a temperature, the first one of the most likely tokens is chosen', () => {
  expect(chooseToken(Float32Array.of(0, 2, 2, 1), [], {}, { row: 0, step: 0 })).toBe(1);
});

test('a penalty divides positive logits and multiplies negative ones, once for each token of the text', () => {
  const choose = (logits: number[], text: number[]) =>
    chooseToken(Float32Array.from(logits), text, { repetitionPenalty: 2 }, { row: 0, step: 0 });
  expect(choose([3, 2], [0])).toBe(1);
  expect(choose([-1, -1.5], [0])).toBe(1);
  expect(choose([3, 1], [0, 0])).toBe(0);
});

test.each<[SamplingOptions, string]>([
  [{ topP: 0 }, 'topP must be in (0, 1], got 0'],
  [{ topP: 1.5 }, 'topP must be in (0, 1], got 1.5'],
  [{ repetitionPenalty: 0 }, 'repetitionPenalty must be a number > 0, got 0'],
  [{ topK: 0 }, 'topK must be an integer'],
])('%j is refused', (options, message) => {
  expect(() => chooseToken(Float32Array.of(1, 2), [], options, { row: 0, step: 0 })).toThrow(message);
});
