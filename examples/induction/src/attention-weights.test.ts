import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { PhiloxStream } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { attentionWeights, inductionHead, previousTokenHead } from './attention-weights.ts';
import { createModel } from './model.ts';
import { createBatch } from './task.ts';

const batch = createBatch(new PhiloxStream(1), 2, 3);
const S = batch.length;

test('weights are causal distributions, for each layer, sequence and head', async () => {
  const weights = await attentionWeights(cpuEngine(), createModel(1), batch);
  expect(weights.map(({ shape }) => shape)).toEqual([
    [2, 2, S, S],
    [2, 2, S, S],
  ]);
  for (const layer of weights) {
    for (let i = 0; i < S; i++) {
      const row = layer
        .slice(0, 1, 2)
        .slice(1, 1, 2)
        .slice(2, i, i + 1)
        .toFloat32();
      expect(row.reduce((sum, w) => sum + w, 0)).toBeCloseTo(1, 5);
      expect(row.slice(i + 1).every(w => w === 0)).toBe(true);
    }
  }
});

/** Two layers of two heads; the one at (layer, head) looks from each of `from` at the one of `to` with 0.75. */
function made(layer: number, head: number, from: readonly number[], to: readonly number[]): Tensor[] {
  return [0, 1].map(l => {
    const t = Tensor.zeros([2, 2, S, S]);
    from.forEach((at, n) => {
      if (l === layer) t.set(0.75, Math.floor(at / S), head, at % S, to[n] % S);
    });
    return t;
  });
}

test('the induction head is the one that looks from questions at sources', () => {
  const weights = made(1, 0, [...batch.questions], [...batch.sources]);
  expect(inductionHead(weights, batch)).toEqual({ layer: 1, head: 0, mass: 0.75 });
});

test('the previous-token head is the one that looks from values at the key before', () => {
  const values = [...batch.tokens.keys()].filter(at => at % 2 === 1);
  const before = values.map(at => at - 1);
  expect(previousTokenHead(made(0, 1, values, before), batch)).toEqual({ layer: 0, head: 1, mass: 0.75 });
});
