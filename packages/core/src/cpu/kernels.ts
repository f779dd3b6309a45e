/**
 * The arithmetic that takes the time, so that another instruction set can replace it without knowing about attention.
 * Matrices are f32 panels; places are given as in BLAS: an array, where the matrix starts in it, and the distance between
 * its rows.
 */
export interface Kernels {
  /** What the kernels are written in, for people. */
  readonly description: string;
  /** A zeroed panel that `multiply` can read and write. */
  allocate(length: number): Float32Array;
  /**
   * C = A·B, or C += A·B with `accumulate`, for A (m × depth), B (depth × n) and C (m × n).
   *
   *     c[ct + i·ldc + j] (+)= Σ_k a[at + i·ai + k·ak] · b[bt + k·ldb + j]
   *
   * A may have any strides, so it may be a transposed view. `n` is a multiple of 4: panels are padded to it.
   */
  multiply(
    m: number,
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
  ): void;
}

/** The next multiple of 4. */
export function padded(n: number): number {
  return (n + 3) & ~3;
}
