/**
 * C = A·B as fast as WebAssembly SIMD can compute it, as a yardstick for attention: A (m × depth) row-major,
 * B in panels of 8 columns, C (m × n) row-major; m is a multiple of 4 and n of 8. A block of 4 × 8 results
 * stays in registers.
 */
export function matmul(m: i32, n: i32, depth: i32, a: usize, b: usize, c: usize): void {
  const lda = <usize>depth * 4;
  const ldc = <usize>n * 4;
  const panel = <usize>depth * 32;
  for (let i = 0; i < m; i += 4) {
    for (let j = 0; j < n; j += 8) {
      block(a + <usize>i * lda, lda, b + <usize>(j / 8) * panel, panel, c + <usize>i * ldc + <usize>j * 4, ldc);
    }
  }
}

@inline function multiplyAdd(c: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

@inline function block(a: usize, lda: usize, b: usize, panel: usize, c: usize, ldc: usize): void {
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  let a1 = a + lda;
  let a2 = a1 + lda;
  let a3 = a2 + lda;
  const end = b + panel;
  while (b < end) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const x0 = v128.load32_splat(a);
    c00 = multiplyAdd(c00, x0, b0);
    c01 = multiplyAdd(c01, x0, b1);
    const x1 = v128.load32_splat(a1);
    c10 = multiplyAdd(c10, x1, b0);
    c11 = multiplyAdd(c11, x1, b1);
    const x2 = v128.load32_splat(a2);
    c20 = multiplyAdd(c20, x2, b0);
    c21 = multiplyAdd(c21, x2, b1);
    const x3 = v128.load32_splat(a3);
    c30 = multiplyAdd(c30, x3, b0);
    c31 = multiplyAdd(c31, x3, b1);
    a += 4;
    a1 += 4;
    a2 += 4;
    a3 += 4;
    b += 32;
  }
  v128.store(c, c00);
  v128.store(c, c01, 16);
  v128.store(c + ldc, c10);
  v128.store(c + ldc, c11, 16);
  v128.store(c + 2 * ldc, c20);
  v128.store(c + 2 * ldc, c21, 16);
  v128.store(c + 3 * ldc, c30);
  v128.store(c + 3 * ldc, c31, 16);
}
