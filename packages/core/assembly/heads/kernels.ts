/*
 * Declarations of the kernels of attention, which `index.ts` of this folder's parent exports, with their
 * names and parameters.
 */

@external("kernels", "packRows")
export declare function packRows(
  count: i32,
  width: i32,
  source: usize,
  ld: usize,
  target: usize,
  panelBytes: usize,
): bool;

@external("kernels", "packColumns")
export declare function packColumns(count: i32, depth: i32, source: usize, ld: usize, target: usize): void;

@external("kernels", "multiplyScores")
export declare function multiplyScores(
  m: i32,
  n: i32,
  depth: i32,
  a: usize,
  lda: usize,
  b: usize,
  c: usize,
  ldc: usize,
  factor: f32,
  ranges: usize,
  j0: i32,
): void;

@external("kernels", "addProduct")
export declare function addProduct(
  m: i32,
  n: i32,
  depth: i32,
  a: usize,
  lda: usize,
  b: usize,
  panelBytes: usize,
  c: usize,
  ldc: usize,
  ranges: usize,
  j0: i32,
  guarded: bool,
): void;

@external("kernels", "addTransposedProduct")
export declare function addTransposedProduct(
  m: i32,
  n: i32,
  depth: i32,
  a: usize,
  lda: usize,
  b: usize,
  panelBytes: usize,
  c: usize,
  ldc: usize,
  ranges: usize,
  j0: i32,
  guarded: bool,
): void;

@external("kernels", "updateSoftmax")
export declare function updateSoftmax(
  m: i32,
  n: i32,
  scores: usize,
  ld: usize,
  largest: usize,
  sum: usize,
  o: usize,
  ldo: usize,
  width: i32,
  ranges: usize,
  j0: i32,
): void;

@external("kernels", "toProbabilities")
export declare function toProbabilities(
  m: i32,
  n: i32,
  scores: usize,
  ld: usize,
  lse: usize,
  ranges: usize,
  j0: i32,
): void;

@external("kernels", "toScoreGradients")
export declare function toScoreGradients(m: i32, n: i32, dp: usize, p: usize, ld: usize, delta: usize): void;

@external("kernels", "divideRows")
export declare function divideRows(m: i32, width: i32, rows: usize, ld: usize, divisors: usize): void;

@external("kernels", "scaleRows")
export declare function scaleRows(m: i32, width: i32, rows: usize, ld: usize, factor: f32): void;

@external("kernels", "dotRows")
export declare function dotRows(
  m: i32,
  width: i32,
  a: usize,
  lda: usize,
  b: usize,
  ldb: usize,
  out: usize,
): void;

/** The host's natural logarithm. */
@external("host", "log")
export declare function log(x: f64): f64;
