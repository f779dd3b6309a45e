import { describe, expect, test } from 'vitest';
import { createKernels, supportedVariants } from './host-kernels.ts';

describe.each(supportedVariants())('%s', variant => {
  const kernels = createKernels(variant);
  const { memory } = kernels;
  const [m, n, width] = [3, 21, 24];
  const ld = 4 * width;

  function tile(value: (i: number, j: number) => number) {
    const panel = memory.floats(m * width);
    for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) panel.values[i * width + j] = value(i, j);
    return panel;
  }
  function bytes(rows: number, value: (i: number, j: number) => boolean) {
    const panel = memory.allocate(Uint8Array, rows * width);
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < n; j++) panel.values[i * width + j] = value(i, j) ? 255 : 0;
    return panel;
  }
  function expectTile(
    { values }: { values: Float32Array | Int32Array },
    want: (i: number, j: number) => number,
  ) {
    const got = Array.from({ length: m * n }, (_, at) => values[Math.floor(at / n) * width + (at % n)]);
    expect(got).toEqual(
      Array.from({ length: m * n }, (_, at) => Math.fround(want(Math.floor(at / n), at % n))),
    );
  }

  test('a bias is added, and one of −∞ hides even NaN', () => {
    memory.reset();
    const bias = (i: number, j: number) => (j % 5 === i ? -Infinity : i - j / 4);
    const scores = tile((i, j) => (j % 5 === i ? NaN : i + j));
    kernels.addBias(m, n, scores.at, ld, tile(bias).at, ld);
    expectTile(scores, (i, j) => bias(i, j) + i + j);
  });

  test('a bias of one row serves all', () => {
    memory.reset();
    const scores = tile((i, j) => i + j);
    kernels.addBias(m, n, scores.at, ld, tile((_, j) => 2 * j).at, 0);
    expectTile(scores, (i, j) => i + 3 * j);
  });

  test('ALiBi subtracts the slope times the distance, to either side', () => {
    memory.reset();
    const scores = tile(() => 1);
    kernels.addAlibi(m, n, scores.at, ld, 0.25, 5);
    expectTile(scores, (i, j) => 1 - 0.25 * Math.abs(5 + i - j));
  });

  test('invisible pairs are hidden, and visible pairs within the ranges are counted', () => {
    memory.reset();
    const sees = (i: number, j: number) => (i * n + j) % 3 !== 0;
    const seen = bytes(m, sees);
    const ranges = memory.allocate(Int32Array, 2 * m);
    const [j0, bounds] = [10, [0, 100, 13, 30, 5, 7]];
    ranges.values.set(bounds);
    let count = 0;
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        if (sees(i, j) && j0 + j >= bounds[2 * i] && j0 + j < bounds[2 * i + 1]) count++;
      }
    }
    expect(kernels.countSeen(m, n, seen.at, width, ranges.at, j0)).toBe(count);
    const scores = tile((i, j) => i + j);
    kernels.hideUnseen(m, n, scores.at, ld, seen.at, width);
    expectTile(scores, (i, j) => (sees(i, j) ? i + j : -Infinity));
  });

  test('bytes become masks, also if one row serves all', () => {
    memory.reset();
    const keeps = (j: number) => j % 4 === 1;
    const masks = memory.allocate(Int32Array, m * width);
    kernels.widenMasks(m, n, bytes(1, (_, j) => keeps(j)).at, 0, masks.at, ld);
    expectTile(masks, (_, j) => (keeps(j) ? -1 : 0));
  });
});
