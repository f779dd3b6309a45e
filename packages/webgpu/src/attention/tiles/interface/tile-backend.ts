import { hasNonFinite } from '../../../codegen/formats/float-bits.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { ScoreVectors } from '../scores/score-vectors.ts';
import type { AccumulateGemm, ScoreGemm, ScoreGemms, TileOperand } from './tile-gemms.ts';
import type { TileResults } from './tile-results.ts';

/** A number computed from each row of scores, such as its maximum. */
export interface RowReduction {
  readonly name: string;
  /** WGSL expression of the lane's own contribution to its row r. */
  readonly own: (r: number) => string;
  /**
   * WGSL expression that combines two numbers of a row, or vec4fs of such numbers. The operation must be
   * commutative, and associative up to rounding.
   */
  readonly join: (a: string, b: string) => string;
  /** The neutral element of `join`. */
  readonly identity: string;
  /** Whether all lanes have passed a barrier since the last reduction. */
  readonly afterBarrier: boolean;
}

/**
 * How the lanes of a workgroup compute a tile, as the text of a kernel. In this text, `lane` is the number of
 * a lane, and `tx` and `ty` are its coordinates. A lane has `resultRows` rows of a result, and `vectors(D)`
 * vec4s of each row.
 */
export interface TileBackend extends TileResults {
  /** The declarations of kernels that compute these products and add rows of these operands. */
  parts(gemms: readonly ScoreGemm[], summed: readonly TileOperand[]): readonly ShaderPart[];
  /** Statements that declare the lane's coordinates, `tx` and `ty`. */
  readonly lane: string;
  /** How kernels compute values of a lane's scores. */
  readonly scoreVectors: ScoreVectors;
  /** Statements that load the stationary rows, and prepare sums over these rows. */
  loadStationary(gemms: readonly ScoreGemm[], summed: readonly TileOperand[]): string;
  /**
   * Statements that declare one or two matrices of products, over the whole head size. They may already load
   * rows that `sums` will add with the same tile, because the conditions of the non-finite guards are known
   * here. `visible`: the condition under which tiles are not skipped; empty if none is skipped.
   */
  scores(gemms: ScoreGemms, sums: readonly AccumulateGemm[], visible: string): string;
  /**
   * Statements for the end that set the maximum `mR` of a row whose scores contain NaN or +Infinity to the
   * mark of such rows; its sum is `sumR`. Without them, `score4` marks each score.
   */
  readonly markRows?: string;
  /**
   * Statements that declare the reductions of the lane's rows as `NAME0`, …, with the same bits in all lanes
   * of a row.
   */
  reduceRows(reduction: RowReduction): string;
  /**
   * Statements that add to one or two sums. They follow those for the products of the same tile, in the same
   * block. Rows and channels beyond the end count as 0, and are never read.
   */
  accumulate(gemms: readonly ScoreGemm[], sums: readonly AccumulateGemm[]): string;
}

/** `weighted(weight, x)`: a masked key has weight 0, which keeps its NaN or infinity out of the result. */
export const weightedPart: ShaderPart = {
  requires: [hasNonFinite],
  code: `fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}`,
};
