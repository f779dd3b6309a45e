import type { ShaderPart } from '../../../codegen/shader-part.ts';

/** How the lanes of one kind of tile multiply, as WGSL. */
export interface TileWork {
  readonly parts: readonly ShaderPart[];
  /** Workgroup variables. */
  readonly declarations?: string;
  /** Declares where a lane's results are. */
  readonly place: string;
  /** Blocks of 4 × 4 that a lane accumulates, below each other and side by side. */
  readonly rows: number;
  readonly columns: number;
  /** Where block r of the rows, or block c of the columns, is in the tile, in blocks. */
  readonly row: (r: number) => string;
  readonly column: (c: number) => string;
  /**
   * Adds the products of steps k_begin to k_end of the sum to `cR_C`, row R of a lane and its block C of columns. The tile starts
   * at m0 and n0, the matrices at a_at and b_at; `inside` says that they go on to the tile's end.
   */
  readonly sum: string;
}

/** Text for each of `n` numbers. */
export const each = (n: number, text: (k: number) => string): string =>
  Array.from({ length: n }, (_, k) => text(k)).join('\n      ');
