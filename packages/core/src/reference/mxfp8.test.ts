import { type Mxfp8Shape, mxfp8Call } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import type { SdpaBackwardOptions } from '../attention/options/options.ts';
import type { BlockScaleLayout } from '../mxfp8/block-scales.ts';
import { dequantiseMxfp8, quantiseMxfp8, roundToBlocks } from '../mxfp8/quantise.ts';
import { Tensor } from '../tensor/tensor.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

/** A call in MXFP8, and the values that its q, k and v stand for. */
function quantisedCall(shape: Mxfp8Shape, layout: BlockScaleLayout = 'rows') {
  const call = mxfp8Call<Tensor>(shape, {
    normal: (sizes, seed) => normal(sizes, seed, 'bf16'),
    quantise: (t, along) => quantiseMxfp8(t, { along, layout }),
  });
  const { descaleQ, descaleK, descaleV } = call.mxfp8;
  const plain = {
    q: dequantiseMxfp8({ values: call.q, scales: descaleQ }, { layout }),
    k: dequantiseMxfp8({ values: call.k, scales: descaleK }, { layout }),
    v: dequantiseMxfp8({ values: call.v, scales: descaleV }, { along: 'positions', layout }),
  };
  return { ...call, mxfp8: { ...call.mxfp8, layout }, plain };
}

const value = (t: Tensor | undefined): number[] => [...(t?.toFloat64() ?? [])];

describe('MXFP8', () => {
  test('scores are those of the dequantised q and k, and o those of the dequantised v', () => {
    const { q, k, v, mxfp8, plain } = quantisedCall({ B: 2, Hq: 2, Hk: 1, Sq: 5, Skv: 37, D: 40 });
    const got = sdpa(q, k, v, { mxfp8, causal: 'bottom-right', outDType: 'f32' });
    const exact = sdpa(plain.q, plain.k, plain.v, { causal: 'bottom-right' });
    expect(value(got.lse)).toEqual(value(exact.lse));
    // P has a relative error of at most 2^-4, and |v| stays below 4.
    const want = value(exact.o);
    for (const [n, x] of value(got.o).entries()) expect(Math.abs(x - want[n])).toBeLessThan(4 / 16);
    expect(value(got.o)).not.toEqual(value(exact.o));
  });

  test('P is rounded relative to the largest weight of its row, times 16', () => {
    // Three keys with scores 2, 1 and −6 and weights 1, e^-1 and e^-8.
    const operand = (x: readonly number[]) => Tensor.from(x, [1, 1, x.length, 1]);
    const [q, k] = [operand([1]), operand([2, 1, -6])].map(t => quantiseMxfp8(t));
    const v = quantiseMxfp8(operand([1, 2, 4]), { along: 'positions' });
    const mxfp8 = { descaleQ: q.scales, descaleK: k.scales, descaleV: v.scales };
    const { o, amaxO } = sdpa(q.values, k.values, v.values, {
      mxfp8,
      outDType: 'f32',
      outputs: { amaxO: true },
    });
    // 16/e = 5.886 is nearest to 6, and 16·e^-8 = 0.00537 = 2.75 · 2^-9 to 3 · 2^-9.
    const l = 1 + Math.exp(-1) + Math.exp(-8);
    expect(o.get(0, 0, 0, 0)).toBeCloseTo((1 + (2 * 6) / 16 + (4 * 3 * 2 ** -9) / 16) / l, 6);
    expect(value(amaxO)).toEqual(value(o));
  });

  test('long rows of equal scores keep their weights', () => {
    const q = quantiseMxfp8(Tensor.zeros([1, 1, 1, 1]));
    const k = quantiseMxfp8(Tensor.zeros([1, 1, 20000, 1]));
    const v = quantiseMxfp8(Tensor.from(new Float32Array(20000).fill(1), [1, 1, 20000, 1]), {
      along: 'positions',
    });
    const mxfp8 = { descaleQ: q.scales, descaleK: k.scales, descaleV: v.scales };
    expect(value(sdpa(q.values, k.values, v.values, { mxfp8, outDType: 'f32' }).o)).toEqual([1]);
  });

  test.each(['rows', 'F8_128x4'] as const)('scales may have the layout %s', layout => {
    const shape = { B: 1, Hq: 2, Hk: 2, Sq: 33, Skv: 65, D: 40 };
    const [one, other] = [quantisedCall(shape), quantisedCall(shape, layout)];
    const run = ({ q, k, v, dO, mxfp8 }: typeof one) => {
      const { o, lse } = sdpa(q, k, v, { mxfp8 });
      return [o, ...Object.values(sdpaBackward({ q, k, v, o, lse, dO }, { mxfp8 }))] as Tensor[];
    };
    expect(run(other).map(value)).toEqual(run(one).map(value));
  });

  test('by default, o is bf16 and the gradients have the dtype of dO', () => {
    const { q, k, v, dO, mxfp8 } = quantisedCall({ B: 1, Hq: 1, Hk: 1, Sq: 3, Skv: 3, D: 4 });
    const { o, lse } = sdpa(q, k, v, { mxfp8 });
    const { dq, dk } = sdpaBackward({ q, k, v, o, lse, dO }, { mxfp8 });
    const { dv } = sdpaBackward({ q, k, v, o, lse, dO }, { mxfp8, gradDType: 'f16' });
    expect([o.dtype, dq.dtype, dk.dtype, dv.dtype]).toEqual(['bf16', 'bf16', 'bf16', 'f16']);
  });

  test('backward follows the formulas with dS rounded along keys for dq and along queries for dk', () => {
    const { q, k, v, dO, mxfp8, plain } = quantisedCall({ B: 1, Hq: 1, Hk: 1, Sq: 40, Skv: 35, D: 4 });
    const options: SdpaBackwardOptions<Tensor> = {
      mxfp8,
      scale: 0.5,
      gradDType: 'f32',
      outputs: { amaxDP: true },
    };
    const { o, lse } = sdpa(q, k, v, options);
    const got = sdpaBackward({ q, k, v, o, lse, dO }, options);

    const plainOf = (name: 'qT' | 'kT' | 'dO8' | 'dOT', scales: keyof typeof mxfp8) =>
      dequantiseMxfp8(
        { values: mxfp8[name] as Tensor, scales: mxfp8[scales] as Tensor },
        { along: name === 'dO8' ? 'channels' : 'positions' },
      ).toFloat64();
    const [qT, kT] = [plainOf('qT', 'descaleQT'), plainOf('kT', 'descaleKT')];
    const [dO8, dOT] = [plainOf('dO8', 'descaleDO'), plainOf('dOT', 'descaleDOT')];
    const [Q, K, V] = [plain.q, plain.k, plain.v].map(t => t.toFloat64());
    const [O, dOExact, L] = [o, dO, lse].map(t => t.toFloat64());
    const dot = (x: Float64Array, i: number, y: Float64Array, j: number) =>
      [0, 1, 2, 3].reduce((sum, d) => sum + x[i * 4 + d] * y[j * 4 + d], 0);
    const dS = new Float64Array(40 * 35);
    const dv = new Float64Array(35 * 4);
    for (let i = 0; i < 40; i++) {
      for (let j = 0; j < 35; j++) {
        const p = Math.exp(0.5 * dot(Q, i, K, j) - L[i]);
        dS[i * 35 + j] = 0.5 * p * (dot(dO8, i, V, j) - dot(dOExact, i, O, i));
        const p8 = Tensor.from([256 * p], [1], { dtype: 'f8e4m3' }).get(0) / 256;
        for (let d = 0; d < 4; d++) dv[j * 4 + d] += p8 * dOT[i * 4 + d];
      }
    }
    const [byKey, byQuery] = [dS.slice(), dS.slice()];
    roundToBlocks(byKey, { outer: 40, inner: 35, outerStep: 35, innerStep: 1 }, 'f8e4m3');
    roundToBlocks(byQuery, { outer: 35, inner: 40, outerStep: 1, innerStep: 35 }, 'f8e4m3');
    const dq = new Float64Array(40 * 4);
    const dk = new Float64Array(35 * 4);
    for (let i = 0; i < 40; i++) {
      for (let j = 0; j < 35; j++) {
        for (let d = 0; d < 4; d++) {
          dq[i * 4 + d] += byKey[i * 35 + j] * kT[j * 4 + d];
          dk[j * 4 + d] += byQuery[i * 35 + j] * qT[i * 4 + d];
        }
      }
    }
    for (const [name, want] of Object.entries({ dq, dk, dv })) {
      const have = value(got[name as 'dq' | 'dk' | 'dv']);
      want.forEach((x, n) => {
        expect(have[n], `${name}[${n}]`).toBeCloseTo(x, 5);
      });
    }
    expect(got.amaxDP?.get(0)).toBeCloseTo(
      dS.reduce((most, x) => Math.max(most, Math.abs(x)), 0),
      6,
    );
  });
});
