import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { Side } from '../operands/matrix-blocks.ts';

/** A tile of C, M × N, which one workgroup of `lanes` lanes computes. */
export interface MatMulTile {
  readonly lanes: number;
  readonly M: number;
  readonly N: number;
  /** The number of steps of the sum that are computed together. */
  readonly depth: number;
  backend(a: Side, b: Side): MatMulBackend;
}

/** How the lanes of a tile multiply, as WGSL. */
export interface MatMulBackend {
  readonly parts: readonly ShaderPart[];
  /** Workgroup variables. */
  readonly declarations?: string;
  /** Statements that declare the coordinates of a lane's results. */
  readonly place: string;
  /** The rows and columns of 4 × 4 blocks that a lane accumulates. */
  readonly rows: number;
  readonly columns: number;
  /** The position in the tile, in blocks, of a lane's block row r or block column c. */
  readonly row: (r: number) => string;
  readonly column: (c: number) => string;
  /**
   * Statements that add the products of steps k_begin to k_end of the sum to `cR_C`, for row R of a lane and
   * its block column C. The tile starts at m0 and n0, and the matrices at a_at and b_at; `inside` is true if
   * the whole tile is within the matrices.
   */
  readonly sum: string;
}
