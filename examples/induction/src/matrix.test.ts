import { fillNormal } from '@tilewise/philox';
import { expect, test } from 'vitest';
import { addProduct, matrix, transposed } from './matrix.ts';

test.each([
  { m: 1, n: 1, depth: 1 },
  { m: 2, n: 4, depth: 3 },
  { m: 5, n: 7, depth: 6 },
  { m: 4, n: 8, depth: 0 },
])('adds the product of $m × $depth and $depth × $n, transposed or not', ({ m, n, depth }) => {
  const a = fillNormal(new Float32Array(m * depth), { seed: 1 });
  const b = fillNormal(new Float32Array(depth * n), { seed: 2 });
  const at = new Float32Array(m * depth).map((_, e) => a[(e % m) * depth + Math.floor(e / m)]);
  const c = new Float32Array(m * n).fill(1);
  const ct = new Float32Array(m * n).fill(1);
  addProduct(m, n, depth, matrix(a, depth), matrix(b, n), c);
  addProduct(m, n, depth, transposed(matrix(at, m)), matrix(b, n), ct);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 1;
      for (let k = 0; k < depth; k++) sum += a[i * depth + k] * b[k * n + j];
      expect(c[i * n + j]).toBeCloseTo(sum, 5);
      expect(ct[i * n + j]).toBe(c[i * n + j]);
    }
  }
});
