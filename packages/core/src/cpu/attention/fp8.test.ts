import { errorOf } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { normal } from '../../../testing/normal.ts';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import type { SdpaBackwardOptions } from '../../attention/options/options.ts';
import { toPages } from '../../layout/paged.ts';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '../../reference/sdpa.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { bestVariant, createKernels } from '../kernels/host-kernels.ts';
import { backward } from './backward/backward.ts';
import { forward } from './forward/forward.ts';

const kernels = createKernels(bestVariant());

const mantissaBits = { f8e4m3: 3, f8e5m2: 2 } as const;

const fp8 = {
  ...{ descaleQ: 0.5, descaleK: 1.5, descaleV: 0.75, descaleO: 1 / 3, descaleDO: 1.25 },
  ...{ scaleS: 200, descaleS: 1 / 200, scaleDP: 20, descaleDP: 1 / 20 },
  ...{ scaleO: 3, scaleDQ: 0.5, scaleDK: 2, scaleDV: 5 },
};
const outputs = { amaxS: true, amaxO: true, amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: true };

const calls: Readonly<Record<string, SdpaBackwardOptions<Tensor>>> = {
  plain: {},
  'causal with a sink': { causal: true, sink: [0.5, -1, 0, 1] },
  'bias, softcap and dropout': {
    bias: normal([13, 21], 7, 'f8e5m2'),
    softcap: 4,
    dropout: { p: 0.25, seed: 3 },
    gradients: ['dq', 'dk', 'dv', 'dbias'],
  },
  'lengths and a mask': {
    seqLensQ: [9, 0],
    seqLensKv: [21, 8],
    mask: Tensor.from(
      Array.from({ length: 21 }, (_, n) => Number(n % 3 > 0)),
      [21],
      { dtype: 'bool' },
    ),
  },
};

/**
 * P and dS in f32 differ from those in f64 by 1e-5 of the largest, so a few of them round to the other
 * neighbour. Therefore most elements of a result agree like those of unrounded products, and none is off by
 * more than two such steps (2^-m of the largest weight each, times the largest element that it multiplies).
 */
function expectAgreement(
  got: Tensor | undefined,
  want: Tensor | undefined,
  name: string,
  step: number,
  rounding: number,
): void {
  expect(got?.shape, name).toEqual(want?.shape);
  expect(got?.dtype, name).toBe(want?.dtype);
  if (!got || !want) return;
  const [a, b] = [got.toFloat64(), want.toFloat64()];
  const M = b.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
  const tight = M * (2e-5 + rounding);
  expect(errorOf(a, b).max, `${name}, largest error`).toBeLessThanOrEqual(tight + 2 * step);
  const off = a.filter((x, n) => !(Object.is(x, b[n]) || Math.abs(x - b[n]) <= tight)).length;
  expect(off / a.length, `${name}, share of elements behind another rounding`).toBeLessThan(0.1);
}

const largest = (t: Tensor): number => t.toFloat64().reduce((most, x) => Math.max(most, Math.abs(x)), 0);

describe.each(['f8e4m3', 'f8e5m2'] as const)('FP8 in %s agrees with the reference', dtype => {
  test.each(Object.entries(calls))('%s', (_, options) => {
    const [q, k, v, dO] = [
      normal([2, 4, 13, 9], 1, dtype),
      normal([2, 2, 21, 9], 2, dtype),
      normal([2, 4, 21, 6], 3, dtype),
      normal([2, 4, 13, 6], 4, 'f8e5m2'),
    ];
    const all = { ...options, fp8, outputs };
    const unit = 2 ** -mantissaBits[dtype];
    for (const outDType of ['f32', dtype] as const) {
      const exact = exactSdpa(q, k, v, { ...all, outDType });
      const { problem, operands } = normalise({ q, k, v }, { ...all, outDType });
      const got = forward(problem, operands, { kernels, tiles: { rows: 5, columns: 8 } });
      const step = unit * largest(v) * fp8.descaleV * fp8.scaleO;
      expectAgreement(got.o, exact.o, 'o', step, outDType === 'f32' ? 0 : unit);
      for (const name of ['lse', 'amaxS', 'amaxO'] as const)
        expectAgreement(got[name], exact[name], name, step, 0);
    }

    const { o, lse } = exactSdpa(q, k, v, all);
    for (const gradDType of ['f32', undefined] as const) {
      const inputs = { q, k, v, o, lse, dO };
      const { dCaptures: _none, ...exact } = exactSdpaBackward(inputs, { ...all, gradDType });
      const { problem, operands } = normaliseBackward(inputs, { ...all, gradDType });
      const { gradients } = backward(problem, operands, { kernels, tiles: { rows: 5, columns: 8 } });
      expect(Object.keys(gradients).sort()).toEqual(Object.keys(exact).sort());
      const dS = largest(exact.amaxDP ?? o);
      const P = options.dropout ? 4 / 3 : 1;
      const steps: Readonly<Record<string, number>> = {
        dq: unit * dS * largest(k) * fp8.descaleK * fp8.scaleDQ,
        dk: unit * dS * largest(q) * fp8.descaleQ * fp8.scaleDK,
        dv: unit * P * largest(dO) * fp8.descaleDO * fp8.scaleDV,
      };
      for (const [name, want] of Object.entries(exact)) {
        const rounding = want.dtype === 'f32' ? 0 : want.dtype === 'f8e5m2' ? 0.25 : 0.125;
        const step = steps[name] ?? Math.max(steps.dq, steps.dk, steps.dv);
        expectAgreement(gradients[name as keyof typeof gradients], want, name, step, rounding);
      }
    }
  });
});

test('paged keys and values compose with FP8', () => {
  const [q, k, v] = [
    normal([2, 2, 5, 8], 1, 'f8e4m3'),
    normal([2, 1, 16, 8], 2, 'f8e4m3'),
    normal([2, 1, 16, 8], 3, 'f8e4m3'),
  ];
  const options = { fp8, seqLensKv: [16, 7], outDType: 'f32' } as const;
  const [pagedK, pagedV] = [toPages(k, 4), toPages(v, 8)];
  const tables = { pageTableK: pagedK.table, pageTableV: pagedV.table };
  const { problem, operands } = normalise(
    { q, k: pagedK.container, v: pagedV.container },
    { ...options, ...tables },
  );
  const got = forward(problem, operands, { kernels }).o;
  expectAgreement(got, exactSdpa(q, k, v, options).o, 'o', largest(v) / 8, 0);
});

test.each(['u8', 'i8', 'f8e4m3'] as const)('P in %s of f32 operands agrees with the reference', dtype => {
  const [q, k, v] = [
    [2, 4, 13, 9],
    [2, 2, 21, 9],
    [2, 4, 21, 6],
  ].map((shape, n) => normal(shape, n + 1, 'f32'));
  const zeroPoint = { u8: 3, i8: -128, f8e4m3: 0 }[dtype];
  const scaleS = { u8: 250, i8: 250, f8e4m3: 200 }[dtype];
  const fp8 = { scaleS, descaleS: 1 / scaleS, formatP: { dtype, zeroPoint } };
  const options = { causal: true, fp8, outputs: { amaxS: true } };
  const { problem, operands } = normalise({ q, k, v }, options);
  const got = forward(problem, operands, { kernels });
  const want = exactSdpa(q, k, v, options);
  expectAgreement(got.o, want.o, 'o', largest(v) * (dtype === 'f8e4m3' ? 2 ** -3 : 1 / scaleS), 1e-6);
  expect(got.amaxS?.toFloat64()[0]).toBeCloseTo(want.amaxS?.toFloat64()[0] ?? NaN, 5);
});
