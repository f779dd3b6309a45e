import { describe, expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import type { SdpaBackwardOptions, SdpaOptions } from '../attention/options/options.ts';
import type { FormatP } from '../attention/problem/fp8.ts';
import type { DType } from '../tensor/dtype/dtype.ts';
import { Tensor } from '../tensor/tensor.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

const e4m3 = (values: readonly number[], shape: readonly number[]): Tensor =>
  Tensor.from(values, shape, { dtype: 'f8e4m3' });

const value = (t: Tensor | undefined): number[] => [...(t?.toFloat64() ?? [])];

/** One query with the same score for three keys: P = 1/3, which f8e4m3 holds as 0.34375 = 11/32. */
const even = {
  q: e4m3([1], [1, 1, 1, 1]),
  k: e4m3([2, 2, 2], [1, 1, 3, 1]),
  v: e4m3([1, 4, 8], [1, 1, 3, 1]),
};

describe('forward in FP8', () => {
  test('weighs values by P rounded to the format of q', () => {
    const { o } = sdpa(even.q, even.k, even.v, { fp8: {}, outDType: 'f32' });
    expect(value(o)).toEqual([(11 / 32) * 13]);
  });

  test('rounds P after scaleS, and removes the scales of S and V again', () => {
    // 20 / 3 = 6.67 is between 6.5 and 7.
    const fp8 = { scaleS: 20, descaleS: 1 / 16, descaleV: 0.25 };
    const { o } = sdpa(even.q, even.k, even.v, { fp8, outDType: 'f32' });
    expect(value(o)).toEqual([(6.5 * 13) / 64]);
  });

  test('f8 storage alone rounds no product', () => {
    const { o } = sdpa(even.q, even.k, even.v, { outDType: 'f32' });
    expect(value(o)).toEqual([Math.fround(13 / 3)]);
  });

  test('the format of q decides, f8e5m2 too', () => {
    const q = even.q.cast('f8e5m2');
    // 1/3 is between 0.3125 and 0.375.
    expect(value(sdpa(q, even.k, even.v, { fp8: {}, outDType: 'f32' }).o)).toEqual([0.3125 * 13]);
  });

  test('P may be rounded to another format than q has: to integers around a zero point', () => {
    const q = even.q.cast('f32');
    const at = (formatP: FormatP, scaleS: number): number[] =>
      value(sdpa(q, even.k, even.v, { fp8: { formatP, scaleS, descaleS: 1 / scaleS }, outDType: 'f32' }).o);
    expect(at({ dtype: 'u8' }, 255)).toEqual([Math.fround(13 / 3)]);
    // 10 / 3 rounds to 3. With a scale of 1.5, 1.5 / 3 is a tie, which goes to the even sum with the zero
    // point.
    expect(at({ dtype: 'i8' }, 10)).toEqual([expect.closeTo(3.9, 6)]);
    expect(at({ dtype: 'i8', zeroPoint: 0 }, 1.5)).toEqual([0]);
    expect(at({ dtype: 'i8', zeroPoint: -127 }, 1.5)).toEqual([expect.closeTo(13 / 1.5, 5)]);
    expect(at({ dtype: 'i8', zeroPoint: 100 }, 300)).toEqual([expect.closeTo((27 * 13) / 300, 6)]);
    expect(at({ dtype: 'f8e5m2' }, 1)).toEqual([0.3125 * 13]);
  });

  test('o is stored times scaleO, and saturates', () => {
    const at = (scaleO: number, outDType: DType): number[] =>
      value(sdpa(even.q, even.k, even.v, { fp8: { scaleO }, outDType }).o);
    expect(at(2, 'f32')).toEqual([(11 / 16) * 13]);
    expect(at(1000, 'f8e4m3')).toEqual([448]);
    expect(at(1e6, 'f8e5m2')).toEqual([57344]);
  });

  test('amaxS is the largest P before its scale, and amaxO the largest |o| before its own', () => {
    const options = { fp8: { scaleS: 20, scaleO: 4 }, outputs: { amaxS: true, amaxO: true } };
    const { amaxS, amaxO, lse } = sdpa(even.q, even.k, even.v, options);
    expect(value(amaxS)).toEqual([Math.fround(1 / 3)]);
    expect(value(amaxO)).toEqual([6.5 * 13]);
    expect(amaxS?.shape).toEqual([1]);
    expect(value(lse)).toEqual([Math.fround(2 + Math.log(3))]);
  });

  test('amaxS is measured after dropout', () => {
    const mask = Tensor.from([1, 0, 1], [3], { dtype: 'bool' });
    const options = { fp8: {}, dropout: { mask, p: 0.5 }, outputs: { amaxS: true } };
    expect(value(sdpa(even.q, even.k, even.v, options).amaxS)).toEqual([Math.fround(2 / 3)]);
  });

  test('scores are those of the descaled q and k', () => {
    const q = normal([1, 2, 3, 4], 1, 'f8e4m3');
    const [k, v] = [2, 3].map(seed => normal([1, 2, 5, 4], seed, 'f8e4m3'));
    const double = (t: Tensor): Tensor =>
      Tensor.from(
        t.toFloat64().map(x => 2 * x),
        t.shape,
      );
    const options = { softcap: 3, causal: true } as const;
    const scaled = sdpa(q, k, v, { ...options, fp8: { descaleQ: 2, descaleK: 0.5 } });
    const twice = sdpa(double(q), k, v, options);
    const halved = sdpa(q, k, v, {
      ...options,
      fp8: { descaleQ: 2, descaleK: Tensor.from([1], [1, 1, 1, 1]) },
    });
    expect(value(scaled.lse)).toEqual(value(sdpa(q, k, v, options).lse));
    expect(value(halved.lse)).toEqual(value(twice.lse));
  });
});

describe('backward in FP8', () => {
  // One pair, so P = 1, and an o that is not its output, so that dS = scale · (dP − δ) is not 0.
  const one = (x: number): Tensor => e4m3([x], [1, 1, 1, 1]);
  const pair = {
    ...{ q: one(2), k: one(3), v: one(4), o: one(8), dO: one(5) },
    lse: Tensor.from([0.5 * 6 * 2 * 0.25], [1, 1, 1]),
  };
  const fp8 = {
    ...{ descaleQ: 2, descaleK: 0.25, descaleV: 0.5, descaleO: 0.125, descaleDO: 0.75 },
    ...{ scaleS: 3.3, descaleS: 0.25, scaleDP: 7, descaleDP: 0.5, scaleDQ: 16, scaleDK: 3, scaleDV: 5 },
  };
  const run = (options: SdpaBackwardOptions<Tensor>) =>
    sdpaBackward(pair, {
      ...options,
      ...{ scale: 0.5, fp8, gradDType: 'f32' },
      outputs: { amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: true },
    });

  test('follows the contract for a single pair', () => {
    const dS = 0.5 * (5 * 4 * 0.75 * 0.5 - 5 * 8 * 0.75 * 0.125);
    expect(dS).toBe(1.875);
    const dS8 = 13; // 7 · 1.875 = 13.125
    const P8 = 3.25; // 3.3
    const { dq, dk, dv, amaxDQ, amaxDK, amaxDV, amaxDP } = run({});
    expect(value(amaxDP)).toEqual([dS]);
    expect(value(amaxDQ)).toEqual([dS8 * 3 * 0.5 * 0.25]);
    expect(value(amaxDK)).toEqual([dS8 * 2 * 0.5 * 2]);
    expect(value(amaxDV)).toEqual([P8 * 5 * 0.25 * 0.75]);
    expect(value(dq)).toEqual([dS8 * 3 * 0.5 * 0.25 * 16]);
    expect(value(dk)).toEqual([dS8 * 2 * 0.5 * 2 * 3]);
    expect(value(dv)).toEqual([P8 * 5 * 0.25 * 0.75 * 5]);
  });

  test('largest values that were not requested are absent', () => {
    const results = sdpaBackward(pair, { fp8, gradients: ['dq'], outputs: { amaxDQ: true } });
    expect(Object.keys(results).sort()).toEqual(['amaxDQ', 'dq']);
  });

  test('gradients are stored as gradDType, by default as q, k and v, saturating', () => {
    expect(run({}).dq.dtype).toBe('f32');
    const stored = sdpaBackward(pair, { fp8: { ...fp8, scaleDQ: 1e4 } });
    expect([stored.dq.dtype, value(stored.dq)]).toEqual(['f8e4m3', [448]]);
  });

  test('agrees with unrounded arithmetic to the precision of the format', () => {
    // P has relative errors of at most 2^-4, and values that are subnormal in f8e4m3 with a scale of 2^6 are
    // below 2^-12.
    const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, 6, 4], seed, 'f8e4m3'));
    const plain: SdpaOptions<Tensor> = { causal: true, sink: [0.5, -1] };
    const { o, lse } = sdpa(q, k, v, { ...plain, outDType: 'f32' });
    const scaled = { ...plain, fp8: { scaleS: 64, descaleS: 1 / 64, scaleDP: 64, descaleDP: 1 / 64 } };
    const options = { gradDType: 'f32', outputs: { amaxDP: true } } as const;
    const exact = sdpaBackward({ q, k, v, o, lse, dO }, { ...plain, gradDType: 'f32' });
    const got = sdpaBackward({ q, k, v, o, lse, dO }, { ...scaled, ...options });
    for (const name of ['dq', 'dk', 'dv'] as const) {
      const [a, b] = [value(got[name]), value(exact[name])];
      // Six terms, each at most amax · 3 (the largest of the normal numbers drawn) with a relative error of
      // 2^-4.
      const largest = name === 'dv' ? 1 : value(got.amaxDP)[0];
      for (let n = 0; n < a.length; n++) expect(Math.abs(a[n] - b[n])).toBeLessThan((6 * 3 * largest) / 16);
      expect(a).not.toEqual(b);
    }
    expect(value(got.dsink)).toEqual(value(exact.dsink));
  });
});
