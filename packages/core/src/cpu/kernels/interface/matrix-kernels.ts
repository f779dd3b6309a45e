import type { MatrixA, MatrixC, ProductExtents } from './parameters.ts';
import type { PackKernels } from './tile-kernels.ts';

/** Products of whole matrices, sums of rows by index, and random numbers. */
export interface MatrixKernels
  extends LineProductKernels,
    ScatterKernels,
    RandomKernels,
    Pick<PackKernels, 'packRows' | 'packColumns'> {
  /**
   * Packs A (m × k) into strips: `STRIP` rows side by side for every step of the depth. The lines of A, `ld`
   * bytes apart, are its rows, or its columns if `transposed`. Rows are read up to a multiple of `STRIP`.
   */
  packStrips(m: number, k: number, source: number, ld: number, transposed: boolean, target: number): void;
  /**
   * C = A·B for A (m × depth), row-major with rows `lda` bytes apart, or in strips if `lda` is 0; the panels
   * of B, after which `BLOCK` numbers are scratch memory; and C (m × n), row-major. Rows of A are read up to
   * a multiple of `STRIP`.
   */
  multiplyPanels(...args: [...ProductExtents, ...MatrixA, b: number, ...MatrixC]): void;
}

/** Sums of rows by their indices. */
export interface ScatterKernels {
  /**
   * Lists the updates of each row of an output: `first` gets, for each row, the number of its first update,
   * and `next`, for each of `count` updates, the number of the next update; −1 ends a list. Indices are i32;
   * indices outside the output are ignored.
   */
  listUpdates(count: number, rows: number, indices: number, first: number, next: number): void;
  /**
   * Computes rows `from` to `to` of an output (`width` f32 per row): the sums of their updates, in f64 and in
   * order. Rows of updates and of the output are `ld` and `ldOutput` bytes apart.
   */
  sumUpdates(
    ...args: [
      ...[from: number, to: number, width: number, first: number, next: number],
      ...[updates: number, ld: number, output: number, ldOutput: number],
    ]
  ): void;
}

/** Random numbers. */
interface RandomKernels {
  /**
   * Draws elements `first` (a multiple of 16) ≤ n < `end` of a tensor, a byte each: 0 with the probability p
   * (f32), else 1, as oneDNN's dropout does. All but `first` and `end` are addresses.
   */
  drawBernoulli(
    ...args: [first: number, end: number, target: number, seed: number, offset: number, p: number]
  ): void;
}

/**
 * Products of few rows A (m × depth), f32, with a large matrix that is read once, sequentially and in its
 * storage dtype: 0 for f32, 1 for f16, 2 for bf16. Distances between rows are in bytes.
 */
export interface LineProductKernels {
  /** C = A·Bᵀ for n lines of B, each of `depth` numbers. */
  multiplyLines(
    ...args: [dtype: number, ...ProductExtents, ...MatrixA, b: number, ldb: number, ...MatrixC]
  ): void;
  /** C += A·B for `depth` lines of B, each of n numbers. */
  addLineProducts: LineProductKernels['multiplyLines'];
}
