import { type Mxfp8Shape, mxfp8Call } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { normal } from '../../../testing/normal.ts';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import type { SdpaBackwardOptions } from '../../attention/options/options.ts';
import { quantiseMxfp8 } from '../../mxfp8/quantise.ts';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '../../reference/sdpa.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { bestVariant, createKernels } from '../kernels/host-kernels.ts';
import { backward } from './backward/backward.ts';
import { forward } from './forward/forward.ts';

const kernels = createKernels(bestVariant());

const shape = { B: 2, Hq: 4, Hk: 2, Sq: 70, Skv: 77, D: 12 };
const calls: Readonly<Record<string, SdpaBackwardOptions<Tensor>>> = {
  // Scores so far apart that blocks of dS hold subnormal numbers, which depend on the elements that share
  // their scale.
  'large scores': { scale: 3 },
  'causal with a sink and lengths': {
    causal: true,
    sink: [0.5, -1, 0, 1],
    seqLensQ: [70, 33],
    seqLensKv: [77, 0],
  },
  'softcap and dropout': { softcap: 4, dropout: { p: 0.25, seed: 3 } },
};

function quantisedCall(sizes: Mxfp8Shape) {
  return mxfp8Call<Tensor>(sizes, {
    normal: (dims, seed) => normal(dims, seed, 'bf16'),
    quantise: (t, along) => quantiseMxfp8(t, { along }),
  });
}

const largest = (t: Tensor): number => t.toFloat64().reduce((most, x) => Math.max(most, Math.abs(x)), 0);
const errors = (a: Tensor, b: Tensor): number[] => {
  const want = b.toFloat64();
  return [...a.toFloat64()].map((x, n) => (Object.is(x, want[n]) ? 0 : Math.abs(x - want[n])));
};

test.each(Object.entries(calls))('MXFP8 agrees with the reference: %s', (_, options) => {
  const { q, k, v, dO, mxfp8 } = quantisedCall(shape);
  const all = { ...options, mxfp8, outDType: 'f32', gradDType: 'f32' } as const;
  const outputs = { amaxO: true, amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: true };
  const tiles = { rows: 32, columns: 32 };
  const exact = exactSdpa(q, k, v, { ...all, outputs });
  const call = normalise({ q, k, v }, { ...all, outputs });
  const got = forward(call.problem, call.operands, { kernels, tiles });
  expect(Math.max(...errors(got.lse, exact.lse))).toBeLessThan(2e-5);
  /*
   * P is rounded relative to the largest score so far instead of the row's, so results differ by two
   * roundings, each 2^-4 relative and 2^-14 absolute (half of the smallest f8e4m3, divided by 16). Their sum
   * over a row is at most 2^-3 · Σ p|v| + Skv · 2^-13 · |v|; but errors of either sign cancel, and most
   * elements are within a fifth of that.
   */
  // The normal numbers drawn stay below 4.
  const bound = (2 ** -3 + shape.Skv * 2 ** -13) * 4 * (options.dropout ? 4 / 3 : 1);
  const off = errors(got.o, exact.o);
  expect(Math.max(...off)).toBeLessThan(bound);
  expect(off.filter(e => e > bound / 5).length / off.length).toBeLessThan(0.02);
  expect(got.amaxO?.get(0)).toBeCloseTo(largest(got.o), 6);

  const { o, lse } = exact;
  const inputs = { q, k, v, o, lse, dO };
  const { dCaptures: _none, ...want } = exactSdpaBackward(inputs, { ...all, outputs });
  const back = normaliseBackward(inputs, { ...all, outputs });
  const { gradients } = backward(back.problem, back.operands, { kernels, tiles });
  expect(Object.keys(gradients).sort()).toEqual(Object.keys(want).sort());
  // P is computed from lse, and dS from blocks that start where those of the reference do, so only a few
  // numbers round the other way.
  const dS = largest(want.amaxDP as Tensor);
  for (const [name, t] of Object.entries(want)) {
    const mine = errors(gradients[name as keyof typeof gradients] as Tensor, t);
    const tight = 4e-5 * Math.max(1, largest(t));
    const flip = (name.endsWith('v') || name.endsWith('V') ? largest(dO) : dS * 4) / 8;
    expect(Math.max(...mine), name).toBeLessThan(tight + 2 * flip);
    expect(mine.filter(e => e > tight).length / mine.length, name).toBeLessThan(0.1);
  }
});

test('tiles of any size start where blocks do', () => {
  const { q, k, v, dO, mxfp8 } = quantisedCall({ ...shape, B: 1, Hq: 1, Hk: 1 });
  const all = { mxfp8, gradDType: 'f32' } as const;
  const { o, lse } = exactSdpa(q, k, v, all);
  const { problem, operands } = normaliseBackward({ q, k, v, o, lse, dO }, all);
  const run = (rows: number, columns: number) =>
    backward(problem, operands, { kernels, tiles: { rows, columns } }).gradients;
  const [small, large] = [run(5, 8), run(96, 96)];
  for (const name of ['dq', 'dk', 'dv'] as const) {
    const [a, b] = [small[name], large[name]] as [Tensor, Tensor];
    expect(errors(a, b).filter(e => e > 1e-4).length / a.size, name).toBeLessThan(0.1);
  }
});
