import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { Side } from '../operands/matrix-blocks.ts';

/** A tile of C, M × N, which one workgroup of `lanes` lanes computes. */
export interface MatMulTile {
  readonly lanes: number;
  readonly M: number;
  readonly N: number;
  /** Steps of the sum that are done together. */
  readonly depth: number;
  backend(a: Side, b: Side): MatMulBackend;
}

/** How the lanes of a tile multiply, as WGSL. */
export interface MatMulBackend {
  readonly parts: readonly ShaderPart[];
  /** Workgroup variables. */
  readonly declarations?: string;
  /** Statements that declare where a lane's results are. */
  readonly place: string;
  /** Blocks of 4 × 4 that a lane accumulates, below each other and side by side. */
  readonly rows: number;
  readonly columns: number;
  /** Where block r of the rows, or block c of the columns, is in the tile, in blocks. */
  readonly row: (r: number) => string;
  readonly column: (c: number) => string;
  /**
   * Statements that add the products of steps k_begin to k_end of the sum to `cR_C`, row R of a lane and its
   * block C of columns. The tile starts at m0 and n0, the matrices at a_at and b_at; `inside` says that the
   * matrices go on to the tile's end.
   */
  readonly sum: string;
}
