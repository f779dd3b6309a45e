import type { Memory } from '../memory/memory.ts';
import type { Variant } from '../variant.ts';
import type { DropoutKernels } from './dropout-kernels.ts';
import type { HeadKernels } from './head-kernels.ts';
import type { MatrixKernels } from './matrix-kernels.ts';
import type { HeadHost, LoopHost } from './module-host.ts';
import type {
  Extents,
  Masks,
  MatrixA,
  MatrixC,
  PanelsOfB,
  ProductExtents,
  Ranges,
  Scores,
} from './parameters.ts';
import type { PackKernels, RowKernels, ScoreKernels } from './tile-kernels.ts';

/**
 * The expensive arithmetic on tiles, which knows nothing about attention problems. All positions are byte
 * addresses in the kernels' own memory, and distances between rows (`ld…`) are in bytes too. A panel of B
 * stores `PANEL` columns side by side for every row of the depth, so that it is read sequentially. `ranges`,
 * unless it is 0, points to two i32 for each row of a tile: the keys lo ≤ j < hi that the row may see. Column
 * c is key j0 + c; columns outside the range have weight 0.
 */
export interface Kernels extends ScoreKernels, RowKernels, PackKernels {
  readonly variant: Variant;
  readonly memory: Memory;
  /** Dropout masks drawn by the kernels; without them `@tilewise/philox` draws the masks. */
  readonly draws?: DropoutKernels;
  /** Present if the kernels are WebAssembly. */
  readonly wasm?: HeadHost;
  /** Products of whole matrices, and sums of rows by index; without these kernels the host computes both. */
  readonly matrices?: MatrixKernels;
  /** Passes over small heads; without them such heads run in tiles. */
  readonly heads?: HeadKernels;
  /** The memory and functions that element-wise loops link to; without them loops run in TypeScript. */
  readonly loops?: LoopHost;

  /**
   * C = factor · A·B, for A (m × depth) row-major, B the panels of n columns, C row-major. Columns that are
   * in no range of four rows may be skipped; rows are written up to a multiple of `STRIP`.
   */
  multiplyScores(
    ...args: [...ProductExtents, ...MatrixA, b: number, ...MatrixC, factor: number, ...Ranges]
  ): void;
  /**
   * C += A·B for weights A (m × depth) row-major; the panels of B, each for 8 of the n columns of C, are
   * `panelBytes` apart. With `guarded`, a weight of 0 adds nothing, whatever its row of B contains, so that
   * NaN and infinities behind a mask cannot leak. Rounding is the same either way. A·B is rounded before it
   * is added, so that it may also be added to zeros first.
   */
  addProduct(
    ...args: [...ProductExtents, ...MatrixA, ...PanelsOfB, ...MatrixC, ...Ranges, guarded: boolean]
  ): void;
  /**
   * C += Aᵀ·B for weights A (depth × m) row-major; otherwise like `addProduct`, with ranges of the rows of A.
   */
  addTransposedProduct: Kernels['addProduct'];

  /**
   * Adds a tile of scores (m × n) to a running softmax and replaces each score by e^(s − m). For each row,
   * `largest` (f32) has the largest score so far, −∞ at first, and `sum` (f64) has l = Σ e^(s − m). If m
   * grows, the row of `o` (`width` f32), which weights earlier tiles by the old m, is rescaled to the new
   * one. Weights are written up to `ld`, 0 outside the ranges.
   */
  updateSoftmax(
    ...args: [...Scores, largest: number, sum: number, o: number, ldo: number, width: number, ...Ranges]
  ): void;
  /**
   * Replaces a tile of scores by p = e^(s − lse), with `lse` an f32 per row; 0 if lse or the score is −∞, and
   * outside the ranges.
   */
  toProbabilities(...args: [...Scores, lse: number, ...Ranges]): void;
  /**
   * Replaces a tile of dp by ds = p·(dp − delta), with `delta` an f32 per row; 0 where p is 0, whatever dp is
   * there.
   */
  toScoreGradients(m: number, n: number, dp: number, p: number, ld: number, delta: number): void;
  /**
   * Multiplies the kept weights (whose masks are all ones) by a factor, from `source` to `target`; the other
   * weights become 0.
   */
  dropWeights(
    ...args: [...Extents, source: number, target: number, ld: number, ...Masks, factor: number]
  ): void;
}
