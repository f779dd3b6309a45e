import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import type { LaneGrid, TileRole } from '../tile.ts';
import type { RowReduction, TileOperand } from '../tile-backend.ts';

/**
 * The sizes of a tile whose operands pass through workgroup memory in chunks, so that head size does not
 * decide how much of that memory is needed. The more scores a lane has, the fewer reads of workgroup memory
 * each product takes, and the more registers.
 */
export interface WorkgroupTileSizes {
  readonly kind?: 'workgroup';
  /** Lanes across keys (and across channels of a result), and across queries. */
  readonly tx: number;
  readonly ty: number;
  /** Queries of a lane. Default 4. */
  readonly rows?: 4 | 8;
  /** vec4s of a lane's keys. Default 1. */
  readonly cols?: 1 | 2;
  /** vec4s of each row that one chunk holds while scores are computed. */
  readonly headDimChunk: number;
  /**
   * The type that workgroup memory holds operands in. f16 halves the memory and the traffic for operands of
   * f16, which f16 holds as they are. Default f32.
   */
  readonly stagingDType?: 'f32' | 'f16';
}

/** A tile in workgroup memory as plain data. */
export interface WorkgroupTileShape extends WorkgroupTileSizes {
  /**
   * The type of products. f16 is for forward alone, on operands staged in f16: a few products are added up in
   * f16 before they are added to sums of f32, which takes fewer instructions where two of f16 fit into one.
   * `f16Arithmetic` bounds the error. Default f32.
   */
  readonly arithmetic?: 'f32' | 'f16';
  /**
   * Lanes read the next chunk from storage into registers while they compute. Results are the same. Default
   * false.
   */
  readonly prefetch?: boolean;
  /**
   * Copies and sums are written out instead of in loops: a lane has several reads of storage in flight, and
   * adds up several rows per turn. Longer texts take compilers longer. The results are the same. Default
   * false.
   */
  readonly unrolled?: boolean;
  /**
   * How forward joins the maxima and sums of rows over their lanes: in workgroup memory, or by shuffles in
   * the subgroup of these lanes, which takes neither memory nor barriers. With 'subgroup', `tx` is a power of
   * two up to the device's least subgroup size, and the number of lanes is a multiple of its largest. Default
   * 'workgroup'.
   */
  readonly rowReduction?: 'workgroup' | 'subgroup';
}

/** A tile in workgroup memory as its kernels are written: every size, and the code of what few tiles do. */
export interface WorkgroupTile extends LaneGrid {
  readonly headDimChunk: number;
  readonly stagingDType: 'f32' | 'f16';
  readonly arithmetic: TileArithmetic | null;
  readonly prefetch: TilePrefetch | null;
  readonly unrolling: TileUnrolling | null;
  readonly rowReduction: TileRowReduction;
}

/**
 * How the tile multiplies where that is not simply in f32. `look` may set `non_finite`: from that chunk on
 * the workgroup multiplies in f32.
 */
export interface TileArithmetic {
  readonly part: ShaderPart;
  /**
   * Four weights in workgroup memory: their WGSL type, how a vec4f is stored and read, and the largest
   * weight.
   */
  readonly weight: {
    readonly type: string;
    readonly bytes: number;
    readonly max: number;
    readonly stored: (value: string) => string;
    readonly read: (at: string) => string;
  };
  /**
   * Statements that look at `x` on its way to workgroup memory, before score products and before sums of
   * rows.
   */
  readonly look: { readonly scores: string; readonly sums: string };
  /** Statements that add the products of a chunk to the scores `SUM0`, … */
  scores(tile: WorkgroupTile, sum: string): string;
  /** Statements that add the weighted rows of a chunk to the sums. */
  sums(chunk: WeightedChunk): string;
  /** Why a tile cannot multiply in this way, or null. */
  reason(role: TileRole, tile: WorkgroupTile): string | null;
}

/** Rows in workgroup memory that are weighted and added up. */
export interface WeightedChunk {
  readonly rows: number;
  /**
   * Statements that read the weights of row k, and this lane's vectors of row k, as workgroup memory holds
   * them.
   */
  readonly read: string;
  /** Text for each sum of a row r and vector n: its name, the weight, and what is weighted. */
  perSum(
    text: (of: {
      readonly r: number;
      readonly n: number;
      readonly sum: string;
      readonly w: string;
      readonly x: string;
    }) => string,
  ): string;
}

/**
 * vec4s of an operand that the lanes copy from storage to workgroup memory together. Texts are about the n-th
 * of them.
 */
export interface Chunk {
  readonly vectors: number;
  /** Statements that declare what the others need, if anything. */
  readonly given?: string;
  /**
   * Statements that declare the row `s` and the channel `d` of the vector, of the chunk that starts at
   * `from`.
   */
  readonly place: (from: string) => string;
  /** The operand that is copied; of two, the one whose number is `product`. */
  readonly operands: readonly TileOperand[];
  /** WGSL expression of the operand's head size. */
  readonly channels: string;
  /** Statements that look at x before it is multiplied, if any. */
  readonly look?: string | undefined;
  /** WGSL place `[line][lane]` of the vector in `staged`. */
  readonly slot: string;
}

/** A loop over chunks: its variable, the expression of its end, and its step. */
export interface ChunkLoop {
  readonly at: string;
  readonly end: string;
  readonly step: number;
}

/** How loops of a tile are written out. */
export interface TileUnrolling {
  /** Statements that copy chunks from storage to workgroup memory; null where lanes have unequal shares. */
  copy(tile: WorkgroupTile, chunks: readonly Chunk[], from: string): string | null;
  /** Statements that add the weighted rows of a chunk to the sums, several rows per turn of a loop. */
  sums(rows: number, addRow: (row: string) => string): string;
}

/** How chunks are read into registers ahead of workgroup memory. */
export interface TilePrefetch {
  /** Statements that read the first chunks of a loop. */
  begin(tile: WorkgroupTile, chunks: readonly Chunk[]): string;
  /** The loop, which follows these statements in the same block. */
  overChunks(tile: WorkgroupTile, loop: ChunkLoop, chunks: readonly Chunk[], body: string): string;
  /** Why a tile cannot prefetch, or null. */
  reason(tile: WorkgroupTile): string | null;
}

/** How the lanes of a tile take their places, and join what the lanes of one row have found. */
export interface TileRowReduction {
  readonly part: (grid: LaneGrid) => ShaderPart;
  /** Bytes of each of its variables in workgroup memory. */
  bytes(grid: LaneGrid): readonly number[];
  /** Statements that declare `tx` and `ty`: every place of the grid is one lane's, in any order. */
  place(grid: LaneGrid): string;
  /** `TileBackend.reduceRows` of this tile. */
  reduceRows(grid: LaneGrid, reduction: RowReduction): string;
  /** Why lanes cannot join rows in this way on a device, or null. */
  reason(role: TileRole, grid: LaneGrid, capabilities: Capabilities): string | null;
}
