import type { Kernels } from './kernels.ts';

/**
 * Kernels in plain TypeScript. The inner loop holds a 4×4 block of C in locals, which the compiler keeps in registers, so
 * that 8 loads feed 16 multiply-adds; they are f64, the only scalar arithmetic of the language, and round once at the end.
 */
export const typescriptKernels: Kernels = {
  description: 'TypeScript',
  allocate: length => new Float32Array(length),
  multiply(m, n, depth, a, at, ai, ak, b, bt, ldb, c, ct, ldc, accumulate) {
    const blocked = m - (m % 4);
    for (let i = 0; i < blocked; i += 4) {
      multiplyFourRows(n, depth, a, at + i * ai, ai, ak, b, bt, ldb, c, ct + i * ldc, ldc, accumulate);
    }
    for (let i = blocked; i < m; i++) {
      multiplyOneRow(n, depth, a, at + i * ai, ak, b, bt, ldb, c, ct + i * ldc, accumulate);
    }
  },
};

function multiplyFourRows(
  n: number,
  depth: number,
  a: Float32Array,
  at: number,
  ai: number,
  ak: number,
  b: Float32Array,
  bt: number,
  ldb: number,
  c: Float32Array,
  ct: number,
  ldc: number,
  accumulate: boolean,
): void {
  const ai2 = 2 * ai;
  const ai3 = 3 * ai;
  for (let j = 0; j < n; j += 4) {
    let c00 = 0;
    let c01 = 0;
    let c02 = 0;
    let c03 = 0;
    let c10 = 0;
    let c11 = 0;
    let c12 = 0;
    let c13 = 0;
    let c20 = 0;
    let c21 = 0;
    let c22 = 0;
    let c23 = 0;
    let c30 = 0;
    let c31 = 0;
    let c32 = 0;
    let c33 = 0;
    let p = at;
    let r = bt + j;
    for (let k = 0; k < depth; k++) {
      const b0 = b[r];
      const b1 = b[r + 1];
      const b2 = b[r + 2];
      const b3 = b[r + 3];
      const a0 = a[p];
      const a1 = a[p + ai];
      const a2 = a[p + ai2];
      const a3 = a[p + ai3];
      c00 += a0 * b0;
      c01 += a0 * b1;
      c02 += a0 * b2;
      c03 += a0 * b3;
      c10 += a1 * b0;
      c11 += a1 * b1;
      c12 += a1 * b2;
      c13 += a1 * b3;
      c20 += a2 * b0;
      c21 += a2 * b1;
      c22 += a2 * b2;
      c23 += a2 * b3;
      c30 += a3 * b0;
      c31 += a3 * b1;
      c32 += a3 * b2;
      c33 += a3 * b3;
      p += ak;
      r += ldb;
    }
    const t = ct + j;
    store(c, t, c00, c01, c02, c03, accumulate);
    store(c, t + ldc, c10, c11, c12, c13, accumulate);
    store(c, t + 2 * ldc, c20, c21, c22, c23, accumulate);
    store(c, t + 3 * ldc, c30, c31, c32, c33, accumulate);
  }
}

function multiplyOneRow(
  n: number,
  depth: number,
  a: Float32Array,
  at: number,
  ak: number,
  b: Float32Array,
  bt: number,
  ldb: number,
  c: Float32Array,
  ct: number,
  accumulate: boolean,
): void {
  for (let j = 0; j < n; j += 4) {
    let c0 = 0;
    let c1 = 0;
    let c2 = 0;
    let c3 = 0;
    let p = at;
    let r = bt + j;
    for (let k = 0; k < depth; k++) {
      const a0 = a[p];
      c0 += a0 * b[r];
      c1 += a0 * b[r + 1];
      c2 += a0 * b[r + 2];
      c3 += a0 * b[r + 3];
      p += ak;
      r += ldb;
    }
    store(c, ct + j, c0, c1, c2, c3, accumulate);
  }
}

function store(
  c: Float32Array,
  at: number,
  x0: number,
  x1: number,
  x2: number,
  x3: number,
  accumulate: boolean,
): void {
  if (accumulate) {
    c[at] += x0;
    c[at + 1] += x1;
    c[at + 2] += x2;
    c[at + 3] += x3;
  } else {
    c[at] = x0;
    c[at + 1] = x1;
    c[at + 2] = x2;
    c[at + 3] = x3;
  }
}
