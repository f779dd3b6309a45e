import { fillNormal } from '@tilewise/philox';
import { describe, expect, test } from 'vitest';
import { createKernels, supportedVariants } from './host-kernels.ts';
import type { Kernels } from './interface/kernels.ts';
import { PANEL_BYTES, padded, STRIP } from './interface/panel.ts';

const normal = (count: number, seed: number) => fillNormal(new Float32Array(count), { seed });
const sizes = [
  { m: 1, n: 1, depth: 1 },
  { m: 3, n: 4, depth: 7 },
  { m: 4, n: 9, depth: 2 },
  { m: 10, n: 6, depth: 0 },
  { m: 13, n: 20, depth: 5 },
];
const cases = supportedVariants().flatMap(variant => sizes.map(size => ({ variant, ...size })));

/** A panel with these numbers, row-major, in rows `ld` apart. */
function place({ memory }: Kernels, values: Float32Array, rows: number, ld: number): number {
  const panel = memory.floats(Math.ceil(rows / STRIP) * STRIP * ld);
  panel.values.set(values.subarray(0, rows * ld));
  return panel.at;
}

const read = ({ memory }: Kernels, at: number, m: number, n: number, ld: number): number[] =>
  Array.from({ length: m * n }, (_, c) => memory.f32[(at >> 2) + Math.floor(c / n) * ld + (c % n)]);

const expectClose = (got: number[], want: number[]) =>
  got.forEach((x, at) => {
    expect(Math.abs(x - want[at]), `${at}`).toBeLessThan(1e-5);
  });

describe.each(cases)('$variant: m = $m, n = $n, depth = $depth', ({ variant, m, n, depth }) => {
  const kernels = createKernels(variant);
  const { memory } = kernels;
  const N = padded(n);
  const A = normal(m * padded(depth), 1);
  const B = normal(Math.max(depth, padded(n)) * Math.max(padded(depth), N), 2);
  const product = (a: (i: number, k: number) => number, b: (k: number, j: number) => number, count: number) =>
    Array.from({ length: m * count }, (_, c) => {
      let sum = 0;
      for (let k = 0; k < depth; k++) sum += a(Math.floor(c / count), k) * b(k, c % count);
      return sum;
    });

  test('scores are products with transposed rows, times a factor', () => {
    memory.reset();
    const ldb = padded(depth);
    const a = place(kernels, A, m, ldb);
    const rows = place(kernels, B, N, ldb);
    const panels = memory.floats(N * depth).at;
    kernels.packColumns(N, depth, rows, 4 * ldb, panels);
    const c = memory.floats((m + STRIP) * N).at;
    kernels.multiplyScores(m, n, depth, a, 4 * ldb, panels, c, 4 * N, 0.5, 0, 0);
    const want = product(
      (i, k) => 0.5 * A[i * ldb + k],
      (k, j) => B[j * ldb + k],
      n,
    );
    expectClose(read(kernels, c, m, n, N), want);
  });

  test.each([false, true])('weighs rows and adds them up (guarded: %s)', guarded => {
    memory.reset();
    const lda = padded(depth);
    const a = place(kernels, A, m, lda);
    const b = place(kernels, B, depth, N);
    const panels = memory.floats(depth * N).at;
    kernels.packRows(depth, N, b, 4 * N, panels, depth * PANEL_BYTES);
    const c = memory.floats((m + STRIP) * N);
    c.values.fill(1);
    kernels.addProduct(m, N, depth, a, 4 * lda, panels, depth * PANEL_BYTES, c.at, 4 * N, 0, 0, guarded);
    const want = product(
      (i, k) => A[i * lda + k],
      (k, j) => B[k * N + j],
      N,
    );
    expectClose(
      read(kernels, c.at, m, N, N),
      want.map(x => 1 + x),
    );
  });

  test.each([false, true])('weighs rows by a transposed A (guarded: %s)', guarded => {
    memory.reset();
    const lda = padded(m);
    const weights = normal(depth * lda, 3);
    const a = place(kernels, weights, depth, lda);
    const b = place(kernels, B, depth, N);
    const bytes = depth * PANEL_BYTES;
    const panels = memory.floats(depth * N).at;
    kernels.packRows(depth, N, b, 4 * N, panels, bytes);
    const c = memory.floats((m + STRIP) * N).at;
    kernels.addTransposedProduct(m, N, depth, a, 4 * lda, panels, bytes, c, 4 * N, 0, 0, guarded);
    const want = product(
      (i, k) => weights[k * lda + i],
      (k, j) => B[k * N + j],
      N,
    );
    expectClose(read(kernels, c, m, N, N), want);
  });
});

describe.each(supportedVariants())('%s', variant => {
  const kernels = createKernels(variant);
  const { memory } = kernels;

  test('a guarded weight of 0 adds nothing from a row that is not finite, in either product', () => {
    memory.reset();
    const a = memory.floats(4 * 4);
    a.values.set([0, 2]);
    const b = memory.floats(2 * 8);
    b.values.set([NaN, Infinity, -Infinity, NaN, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]);
    const c = memory.floats(4 * 8);
    kernels.addProduct(1, 8, 2, a.at, 16, b.at, 64, c.at, 32, 0, 0, true);
    expect([...c.values.subarray(0, 4)]).toEqual([2, 4, 6, 8]);
    a.values.set([0, 0, 0, 0, 2]);
    kernels.addTransposedProduct(1, 8, 2, a.at, 16, b.at, 64, c.at, 32, 0, 0, true);
    expect([...c.values.subarray(0, 4)]).toEqual([4, 8, 12, 16]);
  });

  test('ranges skip exactly the columns that no row sees', () => {
    memory.reset();
    const [m, n, depth] = [6, 24, 8];
    const lda = padded(n);
    const ranges = memory.allocate(Int32Array, 2 * m);
    const bounds = Array.from({ length: m }, (_, i) => [2 * i, i === 3 ? 0 : 3 * i + 5]);
    ranges.values.set(bounds.flatMap(([lo, hi]) => [100 + lo, 100 + hi]));
    const sees = (i: number, j: number) => j >= bounds[i][0] && j < bounds[i][1];
    const q = place(kernels, normal(m * depth, 1), m, depth);
    const k = place(kernels, normal(n * depth, 2), n, depth);
    const columns = memory.floats(n * depth).at;
    kernels.packColumns(n, depth, k, 4 * depth, columns);
    const [some, all] = [memory.floats(8 * lda), memory.floats(8 * lda)];
    some.values.fill(NaN);
    kernels.multiplyScores(m, n, depth, q, 32, columns, some.at, 4 * lda, 1, ranges.at, 100);
    kernels.multiplyScores(m, n, depth, q, 32, columns, all.at, 4 * lda, 1, 0, 100);
    const weights = memory.floats(8 * lda);
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        if (!sees(i, j)) continue;
        expect(some.values[i * lda + j]).toBe(all.values[i * lda + j]);
        weights.values[i * lda + j] = all.values[i * lda + j];
      }
    }
    const panels = memory.floats(n * depth).at;
    kernels.packRows(n, depth, k, 32, panels, n * PANEL_BYTES);
    const results = [0, ranges.at].map(at => {
      const [o, dk] = [memory.floats(8 * depth), memory.floats(n * depth)];
      kernels.addProduct(
        ...([m, depth, n, weights.at, 4 * lda, panels, n * PANEL_BYTES] as const),
        ...([o.at, 32, at, 100, false] as const),
      );
      kernels.addTransposedProduct(
        ...([n, depth, m, weights.at, 4 * lda, panels, n * PANEL_BYTES] as const),
        ...([dk.at, 32, at, 100, false] as const),
      );
      return [...o.values.subarray(0, m * depth), ...dk.values];
    });
    expect(results[1]).toEqual(results[0]);
  });
});
