import { fillNormal } from '@tilewise/philox';
import { describe, expect, test } from 'vitest';
import { padded } from './kernels.ts';
import { typescriptKernels } from './matmul.ts';
import { addWeightedRows } from './weighted-sum.ts';

const normal = (count: number, seed: number) => fillNormal(new Float32Array(count), { seed });
const sizes = [
  { m: 1, n: 1, depth: 1 },
  { m: 3, n: 4, depth: 7 },
  { m: 4, n: 9, depth: 2 },
  { m: 10, n: 6, depth: 0 },
  { m: 13, n: 12, depth: 5 },
];

describe.each(sizes)('m = $m, n = $n, depth = $depth', ({ m, n, depth }) => {
  const ldb = padded(n) + 4;
  const ldc = padded(n) + 8;
  const A = normal(m * depth + 3, 1);
  const b = normal(depth * ldb + 2, 2);
  const before = normal(m * ldc + 5, 3);
  const expected = (base: number, at: (i: number, k: number) => number) =>
    Array.from({ length: m * n }, (_, c) => {
      const [i, j] = [Math.floor(c / n), c % n];
      let sum = base * before[5 + i * ldc + j];
      for (let k = 0; k < depth; k++) sum += at(i, k) * b[2 + k * ldb + j];
      return sum;
    });
  const block = (c: Float32Array) =>
    Array.from({ length: m * n }, (_, at) => c[5 + Math.floor(at / n) * ldc + (at % n)]);
  const expectClose = (got: number[], want: number[]) =>
    got.forEach((x, at) => {
      expect(Math.abs(x - want[at]), `${at}`).toBeLessThan(1e-5);
    });

  test('multiplies', () => {
    const c = before.slice();
    typescriptKernels.multiply(m, padded(n), depth, A, 3, depth, 1, b, 2, ldb, c, 5, ldc, false);
    expectClose(
      block(c),
      expected(0, (i, k) => A[3 + i * depth + k]),
    );
  });

  test('adds the product with a transposed A', () => {
    const c = before.slice();
    typescriptKernels.multiply(m, padded(n), depth, A, 3, 1, m, b, 2, ldb, c, 5, ldc, true);
    const want = expected(1, (i, k) => A[3 + k * m + i]);
    expectClose(block(c), want);
    const guarded = before.slice();
    addWeightedRows(m, padded(n), depth, A, 3, 1, m, b, 2, ldb, guarded, 5, ldc, true);
    expectClose(block(guarded), want);
  });

  test('writes nothing but C and its padding', () => {
    const c = before.slice();
    typescriptKernels.multiply(m, padded(n), depth, A, 3, depth, 1, b, 2, ldb, c, 5, ldc, false);
    const changed = [...c.keys()].filter(at => c[at] !== before[at]);
    expect(changed.every(at => at >= 5 && (at - 5) % ldc < padded(n))).toBe(true);
  });
});

test('a weight of 0 adds nothing of a row that is not finite', () => {
  const sums = new Float32Array(4);
  addWeightedRows(
    1,
    4,
    2,
    new Float32Array([0, 2]),
    0,
    2,
    1,
    new Float32Array([NaN, Infinity, -Infinity, NaN, 1, 2, 3, 4]),
    0,
    4,
    sums,
    0,
    4,
    true,
  );
  expect([...sums]).toEqual([2, 4, 6, 8]);
});
