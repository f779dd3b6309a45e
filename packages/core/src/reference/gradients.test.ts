import { fillNormal } from '@tilewise/philox';
import { describe, expect, test } from 'vitest';
import type { SdpaOptions } from '../attention/options/options.ts';
import {
  abs,
  add,
  h,
  kv,
  load,
  lt,
  max,
  mul,
  q as queryIndex,
  score,
  select,
  sub,
  tanh,
} from '../expr/build.ts';
import { scoreMod } from '../expr/mods/mod.ts';
import { relativeBiasMod } from '../expr/mods/score-mods.ts';
import { Tensor } from '../tensor/tensor.ts';
import { sdpaBackwardFloat64 } from './backward.ts';
import { sdpaFloat64 } from './forward.ts';

const [B, Hq, Hk, Hv, Sq, Skv, Dqk, Dv] = [2, 4, 1, 2, 4, 5, 3, 2];

/** Normals rounded to multiples of 2^-10, so that the steps below are exact in f32. */
function normal(shape: readonly number[], seed: number): Tensor {
  const count = shape.reduce((n, extent) => n * extent, 1);
  const values = fillNormal(new Float32Array(count), { seed }).map(x => Math.round(x * 1024) / 1024);
  return Tensor.from(values, shape);
}

interface Call {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly options: SdpaOptions<Tensor>;
}

const dense = {
  q: normal([B, Hq, Sq, Dqk], 1),
  k: normal([B, Hk, Skv, Dqk], 2),
  v: normal([B, Hv, Skv, Dv], 3),
};
const packed = { q: normal([7, Hq, Dqk], 4), k: normal([8, Hk, Dqk], 5), v: normal([8, Hv, Dv], 6) };

/** L = ⟨o, dO⟩ + ⟨lse, dLse⟩; rows without a key have lse = −∞ and do not count. */
function loss({ q, k, v, options }: Call, dO: Float64Array, dLse: Float64Array): number {
  const { o, lse } = sdpaFloat64(q, k, v, options);
  const fromO = o.values.reduce((sum, x, n) => sum + x * dO[n], 0);
  return lse.values.reduce((sum, x, n) => (x === -Infinity ? sum : sum + x * dLse[n]), fromO);
}

/** ∂ loss / ∂ an element of `t`, by central differences of fourth order. */
function slope(call: Call, t: Tensor, at: number, dO: Float64Array, dLse: Float64Array): number {
  const step = 2 ** -7;
  const original = t.data[at];
  const shifted = (steps: number): number => {
    t.data[at] = original + steps * step;
    const value = loss(call, dO, dLse);
    t.data[at] = original;
    return value;
  };
  return (8 * (shifted(1) - shifted(-1)) - (shifted(2) - shifted(-2))) / (12 * step);
}

/** Compares every gradient with differences, at up to 12 elements of each tensor. */
function expectGradients(call: Call, learned: Readonly<Record<string, Tensor>> = {}): void {
  const { q, k, v, options } = call;
  const { o, lse } = sdpaFloat64(q, k, v, options);
  const dO = normal(o.shape, 7);
  const dLse = normal(lse.shape, 8);
  const results = sdpaBackwardFloat64({ q, k, v, o, lse, dO, dLse }, options);
  const gradients = { dq: results.dq, dk: results.dk, dv: results.dv, dbias: results.dbias };
  const byName = { ...gradients, dsink: results.dsink, dAlibi: results.dAlibi, ...results.dCaptures };
  for (const [name, t] of Object.entries({ dq: q, dk: k, dv: v, ...learned })) {
    const gradient = byName[name as keyof typeof byName];
    expect(gradient?.shape, name).toEqual(t.shape);
    for (let n = 0; n < t.size; n += Math.ceil(t.size / 12)) {
      const expected = slope(call, t, n, dO.toFloat64(), dLse.toFloat64());
      // The error of the differences is step⁴/30 times a fifth derivative: 1e-10 times some hundreds.
      expect(gradient?.values[n], `${name}[${n}]`).toBeCloseTo(expected, 6);
    }
  }
}

describe('gradients equal finite differences', () => {
  test('without options, for grouped heads with Hk ≠ Hv and Dqk ≠ Dv', () => {
    expectGradients({ ...dense, options: {} });
  });

  test('causal from the bottom right with fully masked rows, lengths and a scale', () => {
    const options = { causal: 'bottom-right' as const, seqLensQ: [4, 3], seqLensKv: [2, 5], scale: -0.75 };
    expectGradients({ ...dense, options });
  });

  test('softcap under bias and ALiBi in a window', () => {
    const bias = normal([1, Hq, 1, Skv], 9);
    const alibi = normal([Hq], 10);
    const options = {
      softcap: 1.5,
      bias,
      alibi,
      window: { left: 2, right: 1, align: 'bottom-right' as const },
    };
    expectGradients({ ...dense, options }, { dbias: bias, dAlibi: alibi });
  });

  test.each([[[Skv]], [[Sq, 1]], [[B, 1, 1, 1]], [[Hq, Sq, Skv]], [[B, Hq, Sq, Skv]], [[1, 1, 1, 1]]])(
    'of a bias of shape %j',
    shape => {
      const bias = normal(shape, 11);
      expectGradients({ ...dense, options: { bias } }, { dbias: bias });
    },
  );

  test('sink, with rows that see no key', () => {
    const sink = normal([Hq], 12);
    expectGradients(
      { ...dense, options: { sink, causal: 'bottom-right', seqLensKv: [2, 0] } },
      { dsink: sink },
    );
  });

  test('dropout from Philox and from a mask', () => {
    const mask = Tensor.from([1, 0, 1, 1, 0], [Skv], { dtype: 'bool' });
    expectGradients({ ...dense, options: { dropout: { p: 0.4, seed: 5, offset: 8 } } });
    expectGradients({ ...dense, options: { dropout: { mask, p: 0.4 } } });
  });

  test('a score mod, in the score and in the tensors that it loads', () => {
    const gain = normal([Hq], 13);
    const table = normal([2, 3], 14);
    const mod = scoreMod(
      () =>
        select(
          lt(queryIndex, 2),
          add(
            mul(load('gain', [h]), tanh(mul(score, load('gain', [h])))),
            load('table', [queryIndex, max(0, sub(kv, 2))]),
          ),
          sub(score, mul(0.25, abs(sub(queryIndex, kv)))),
        ),
      { gain, table },
    );
    expectGradients({ ...dense, options: { scoreMod: mod, softcap: 2 } }, { gain, table });
  });

  test('a load that a condition keeps inside its tensor', () => {
    const ids = Tensor.from([1, 0, 1], [3], { dtype: 'i32' });
    const table = normal([2], 18);
    const loaded = load('table', [load('ids', [kv], 'i32')]);
    const mod = scoreMod(() => add(score, select(lt(kv, 3), loaded, 0)), { ids, table });
    expectGradients({ ...dense, options: { scoreMod: mod } }, { table });
  });

  test('a relative bias, shared by many pairs', () => {
    const table = normal([Hq, 5], 15);
    expectGradients(
      { ...dense, options: { scoreMod: relativeBiasMod(table), causal: true } },
      { relativeBias: table },
    );
  });

  test('packed sequences, one without queries and one without keys', () => {
    const options = {
      cuSeqLensQ: [0, 3, 3, 5, 7],
      cuSeqLensKv: [0, 2, 5, 5, 8],
      causal: 'bottom-right' as const,
      dropout: { p: 0.3, seed: 3 },
    };
    const alibi = normal([Hq], 16);
    const sink = normal([Hq], 17);
    expectGradients({ ...packed, options: { ...options, alibi, sink } }, { dAlibi: alibi, dsink: sink });
  });
});

test('the default gradients are those of the options that are tensors', () => {
  const { q, k, v } = dense;
  const options = { bias: normal([Skv], 1), alibi: true, sink: [0, 0, 0, 0] };
  const { o, lse } = sdpaFloat64(q, k, v, options);
  const results = sdpaBackwardFloat64({ q, k, v, o, lse, dO: normal(o.shape, 2) }, options);
  expect(Object.keys(results).sort()).toEqual(['dbias', 'dk', 'dq', 'dsink', 'dv']);
});

test('a subset of gradients can be requested', () => {
  const { q, k, v } = dense;
  const options = { alibi: true };
  const { o, lse } = sdpaFloat64(q, k, v, options);
  const dO = normal(o.shape, 2);
  const results = sdpaBackwardFloat64({ q, k, v, o, lse, dO }, { ...options, gradients: ['dAlibi', 'dv'] });
  expect(Object.keys(results).sort()).toEqual(['dAlibi', 'dv']);
});

test('with o and lse of all keys, gradients by parts of the keys add up', () => {
  const { q, k, v } = dense;
  const { o, lse } = sdpaFloat64(q, k, v);
  const dO = normal(o.shape, 3);
  const whole = sdpaBackwardFloat64({ q, k, v, o, lse, dO });
  const parts = [
    [0, 2],
    [2, Skv],
  ].map(([from, to]) => {
    const part = { q, k: k.slice(2, from, to), v: v.slice(2, from, to), o, lse, dO };
    return sdpaBackwardFloat64(part, { scale: 1 / Math.sqrt(Dqk) });
  });
  whole.dq?.values.forEach((x, n) => {
    const sum = parts.reduce((total, part) => total + (part.dq?.values[n] ?? NaN), 0);
    expect(sum).toBeCloseTo(x, 12);
  });
});
