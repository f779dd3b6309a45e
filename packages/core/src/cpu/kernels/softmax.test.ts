import { describe, expect, test } from 'vitest';
import { createKernels, supportedVariants } from './host-kernels.ts';

describe.each(supportedVariants())('%s', variant => {
  const kernels = createKernels(variant);
  const { memory } = kernels;

  /** e^x, computed as probabilities with lse = 0. */
  function exponentials(x: readonly number[]): number[] {
    memory.reset();
    const width = Math.ceil(x.length / 8) * 8;
    const tile = memory.floats(width);
    tile.values.set(x);
    kernels.toProbabilities(1, x.length, tile.at, 4 * width, memory.floats(1).at, 0, 0);
    return [...tile.values.subarray(0, x.length)];
  }

  test('e^x has an absolute error below 1.5e-7 for x ≤ 0, and below 2.2e-7 + 7.5e-8·|x| relative', () => {
    const x = Array.from({ length: 200_000 }, (_, n) => Math.fround(-87 * (n / 200_000) ** 2));
    let [absolute, relative] = [0, 0];
    exponentials(x).forEach((y, n) => {
      const exact = Math.exp(x[n]);
      absolute = Math.max(absolute, Math.abs(y - exact));
      relative = Math.max(relative, Math.abs(y / exact - 1) / (2.2e-7 + 7.5e-8 * -x[n]));
    });
    expect(absolute).toBeLessThan(1.5e-7);
    expect(relative).toBeLessThan(1);
  });

  test('e^x is exact at 0, 0 of −∞ and far below 0, NaN of NaN, and ∞ where f32 overflows', () => {
    expect(exponentials([0, -0, -Infinity, -110, -1e30, NaN])).toEqual([1, 1, 0, 0, 0, NaN]);
    const [large] = exponentials([88]);
    expect(Math.abs(large / Math.exp(88) - 1)).toBeLessThan(4e-6);
    expect(exponentials([89, 1000, 3e38, Infinity])).toEqual([Infinity, Infinity, Infinity, Infinity]);
  });

  test('a running softmax over tiles is the softmax of all, whatever the ranges', () => {
    memory.reset();
    const [m, n, width] = [5, 24, 8];
    const score = (i: number, j: number) => Math.sin(7 * i + 3 * j) * (1 + i);
    const sees = (i: number, j: number) => j >= 2 * i && j < (i === 2 ? 0 : 31 + i);
    const ranges = memory.allocate(Int32Array, 2 * m);
    for (let i = 0; i < m; i++) ranges.values.set([2 * i, i === 2 ? 0 : 31 + i], 2 * i);
    const tile = memory.floats(8 * n);
    const largest = memory.floats(m);
    largest.values.fill(-Infinity);
    const sum = memory.allocate(Float64Array, m);
    const o = memory.floats(8 * width);
    for (const j0 of [0, 24]) {
      for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) tile.values[i * n + j] = score(i, j0 + j);
      kernels.updateSoftmax(m, n, tile.at, 4 * n, largest.at, sum.at, o.at, 32, width, ranges.at, j0);
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          if (!sees(i, j0 + j)) expect(tile.values[i * n + j]).toBe(0);
          o.values[i * width] += tile.values[i * n + j] * (j0 + j);
        }
      }
    }
    for (let i = 0; i < m; i++) {
      const keys = Array.from({ length: 2 * n }, (_, j) => j).filter(j => sees(i, j));
      const most = keys.reduce((x, j) => Math.max(x, Math.fround(score(i, j))), -Infinity);
      const l = keys.reduce((x, j) => x + Math.exp(score(i, j) - most), 0);
      const weighted = keys.reduce((x, j) => x + Math.exp(score(i, j) - most) * j, 0);
      expect(largest.values[i]).toBe(most);
      expect(sum.values[i]).toBeCloseTo(l, 5);
      expect(o.values[i * width]).toBeCloseTo(weighted, 3);
    }
  });

  test('a row that has only seen NaN keeps it, one of −∞ weighs nothing', () => {
    memory.reset();
    const tile = memory.floats(4 * 8);
    tile.values.fill(-Infinity);
    tile.values[1] = NaN;
    const largest = memory.floats(2);
    largest.values.fill(-Infinity);
    const sum = memory.allocate(Float64Array, 2);
    kernels.updateSoftmax(2, 8, tile.at, 32, largest.at, sum.at, memory.floats(8).at, 0, 0, 0, 0);
    expect([...tile.values.subarray(0, 3)]).toEqual([0, NaN, 0]);
    expect([...sum.values]).toEqual([NaN, 0]);
    expect([...tile.values.subarray(8, 16)]).toEqual(new Array(8).fill(0));
  });

  test('score gradients are 0 where p is, whatever dp holds', () => {
    memory.reset();
    const [dp, p, delta] = [memory.floats(8), memory.floats(8), memory.floats(1)];
    dp.values.set([1, NaN, Infinity, 4]);
    p.values.set([0.5, 0, 0, 0.25]);
    delta.values[0] = 2;
    kernels.toScoreGradients(1, 4, dp.at, p.at, 32, delta.at);
    expect([...dp.values.subarray(0, 4)]).toEqual([-0.5, 0, 0, 0.5]);
  });
});
