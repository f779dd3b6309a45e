import { describe, expect, test } from 'vitest';
import { add, ge, h, kv, q } from '../expr/build.ts';
import { maskMod } from '../expr/mods/mod.ts';
import { Tensor } from '../tensor/tensor.ts';
import { normalise } from './call/normalise.ts';
import { cost } from './cost.ts';
import type { SdpaOptions } from './options/options.ts';

function costOf(options: SdpaOptions<Tensor>, { B = 1, H = 1, Sq = 8, Skv = 8, Dqk = 4, Dv = 4 } = {}) {
  const inputs = {
    q: Tensor.zeros([B, H, Sq, Dqk], { dtype: 'bf16' }),
    k: Tensor.zeros([B, H, Skv, Dqk], { dtype: 'bf16' }),
    v: Tensor.zeros([B, H, Skv, Dv], { dtype: 'bf16' }),
  };
  const { problem, operands } = normalise(inputs, options);
  return { exact: cost(problem, operands), bound: cost(problem) };
}

describe('pairs', () => {
  test('are all pairs without a mask, S(S + 1)/2 when causal', () => {
    expect(costOf({}, { B: 2, H: 3, Sq: 5, Skv: 7 }).exact.pairs).toBe(2 * 3 * 5 * 7);
    expect(costOf({ causal: true }, { Sq: 2048, Skv: 2048 }).exact.pairs).toBe((2048 * 2049) / 2);
  });

  test('of a causal window of W keys are W(W + 1)/2 + (S − W)W', () => {
    const [S, W] = [100, 9];
    const { exact } = costOf({ causal: true, window: { left: W - 1 } }, { Sq: S, Skv: S });
    expect(exact.pairs).toBe((W * (W + 1)) / 2 + (S - W) * W);
  });

  test('follow the lengths; without operands every sequence counts in full', () => {
    const { exact, bound } = costOf({ seqLensQ: [2, 8], seqLensKv: [3, 0] }, { B: 2 });
    expect(exact.pairs).toBe(6);
    expect(bound.pairs).toBe(128);
    expect(costOf({ seqLensKv: [3, 0] }, { B: 2 }).exact.pairs).toBe(8 * 3);
  });

  test('under a mask are counted one by one', () => {
    const mask = Tensor.from([1, 0, 1, 0, 0, 0, 0, 1], [8], { dtype: 'bool' });
    expect(costOf({ mask, causal: true }, { H: 2 }).exact.pairs).toBe(2 * (8 + 6 + 1));
    expect(costOf({ mask, causal: true }, { H: 2 }).bound.pairs).toBe(2 * 36);
  });

  test('under a mask for each head are counted for each head', () => {
    const perHead = maskMod(() => ge(q, add(kv, h)));
    expect(costOf({ maskMod: perHead }, { H: 2 }).exact.pairs).toBe(36 + 28);
    const mask = Tensor.from([1, 0], [2, 1, 1], { dtype: 'bool' });
    expect(costOf({ mask }, { H: 2 }).exact.pairs).toBe(64);
  });
});

test('forward has two products, backward five', () => {
  const { exact } = costOf({}, { Sq: 3, Skv: 5, Dqk: 6, Dv: 2 });
  expect(exact.forward.flops).toBe(2 * 15 * (6 + 2));
  expect(exact.backward.flops).toBe(2 * 15 * (3 * 6 + 2 * 2));
});

describe('bytes', () => {
  test('count each operand and result once', () => {
    const bias = Tensor.zeros([3, 5], { dtype: 'bf16' });
    const { exact } = costOf(
      { bias, outDType: 'f32', outputs: { max: true } },
      { Sq: 3, Skv: 5, Dqk: 6, Dv: 2 },
    );
    const [q, k, v] = [3 * 6 * 2, 5 * 6 * 2, 5 * 2 * 2];
    const [o, rows, biasBytes] = [3 * 2 * 4, 3 * 4, 15 * 2];
    expect(exact.forward.bytes).toBe(q + k + v + biasBytes + o + 2 * rows);
    expect(exact.backward.bytes).toBe(2 * (q + k + v + biasBytes) + 2 * o + rows);
  });

  test('do not count positions beyond a length', () => {
    const sizes = { B: 2, Sq: 1 };
    const { exact } = costOf({ seqLensKv: [1, 2] }, sizes);
    const { exact: full } = costOf({}, sizes);
    expect(full.forward.bytes - exact.forward.bytes).toBe((16 - 3) * (4 + 4) * 2);
  });
});
