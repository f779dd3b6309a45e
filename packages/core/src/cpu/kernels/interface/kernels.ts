import type { Memory } from '../memory/memory.ts';
import type { DropoutKernels } from './dropout-kernels.ts';
import type { MatrixKernels } from './matrix-kernels.ts';
import type { LoopHost, WasmHost } from './module-host.ts';
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
import type { PackKernels, RowKernels, ScoreKernels, SoftcapKernels } from './tile-kernels.ts';
import type { Variant } from './variant.ts';

/**
 * The arithmetic that takes the time, on tiles, without knowing about attention problems. All places are
 * addresses in bytes in the kernels' own memory, and distances between rows (`ld…`) are bytes too. Panels of
 * B hold `PANEL` columns side by side for every row of the depth, so that they are read in line. `ranges`,
 * where it is not 0, has two i32 for each row of a tile: the keys lo ≤ j < hi that it may see, of which
 * column c is key j0 + c; what lies outside has weight 0.
 */
export interface Kernels extends ScoreKernels, RowKernels, PackKernels {
  readonly variant: Variant;
  readonly memory: Memory;
  /** Dropout masks drawn by the kernels themselves; without it they are drawn by `@tilewise/philox`. */
  readonly draws?: DropoutKernels;
  /** Softcap of tiles; without it the score chain sees to softcap. */
  readonly softcap?: SoftcapKernels;
  /** Present where the kernels are WebAssembly. */
  readonly wasm?: WasmHost;
  /** Products of whole matrices; without them matrices are multiplied on the host. */
  readonly matrices?: MatrixKernels;
  /**
   * The memory and functions that element-wise loops are linked with; without them loops run in TypeScript.
   */
  readonly loops?: LoopHost;

  /**
   * C = factor · A·B, for A (m × depth) row-major, B the panels of n columns, C row-major. Columns that no
   * range of four rows holds may be left as they are; rows are written up to a multiple of `STRIP`.
   */
  multiplyScores(
    ...of: [...ProductExtents, ...MatrixA, b: number, ...MatrixC, factor: number, ...Ranges]
  ): void;
  /**
   * C += A·B for weights A (m × depth) row-major; the panels of B, each for 8 of the n columns of C, are
   * `panelBytes` apart. With `guarded` a weight of 0 adds nothing, whatever its row of B holds: that is what
   * keeps NaN and infinities behind a mask from leaking. Rounding is the same either way. A·B is rounded
   * before it is added, so that it may also be added to zeros first.
   */
  addProduct(
    ...of: [...ProductExtents, ...MatrixA, ...PanelsOfB, ...MatrixC, ...Ranges, guarded: boolean]
  ): void;
  /**
   * C += Aᵀ·B for weights A (depth × m) row-major; all else as in `addProduct`, the ranges those of the rows
   * of A.
   */
  addTransposedProduct: Kernels['addProduct'];

  /**
   * Takes a tile of scores (m × n) into a running softmax and replaces each by e^(s − m). For each row,
   * `largest` (f32) has the largest score so far, −∞ at first, and `sum` (f64) l = Σ e^(s − m). Where m
   * grows, the row of `o` (`width` f32), which weighs earlier tiles by the old m, is brought to the new one.
   * Weights are written up to `ld`, 0 outside the ranges.
   */
  updateSoftmax(
    ...of: [...Scores, largest: number, sum: number, o: number, ldo: number, width: number, ...Ranges]
  ): void;
  /**
   * Replaces a tile of scores by p = e^(s − lse), `lse` f32 per row; 0 where it is −∞, outside the ranges and
   * at −∞.
   */
  toProbabilities(...of: [...Scores, lse: number, ...Ranges]): void;
  /**
   * Replaces a tile of dp by ds = p·(dp − delta), `delta` f32 per row; 0 where p is, whatever dp holds there.
   */
  toScoreGradients(m: number, n: number, dp: number, p: number, ld: number, delta: number): void;
  /**
   * Multiplies the weights that are kept (mask of all ones) by a factor, from `source` to `target`; the
   * others become 0.
   */
  dropWeights(
    ...of: [...Extents, source: number, target: number, ld: number, ...Masks, factor: number]
  ): void;
}
