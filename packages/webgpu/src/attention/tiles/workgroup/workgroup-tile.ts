import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import type { RowReduction } from '../interface/tile-backend.ts';
import type { ScoreGemm, TileOperand } from '../interface/tile-gemms.ts';
import type { LaneGrid, ScoreVectors } from '../scores/score-vectors.ts';
import type { TileRole } from '../tile.ts';

/**
 * The sizes of a tile whose operands pass through workgroup memory in chunks, so that the required workgroup
 * memory does not depend on the head size. The more scores a lane has, the fewer reads of workgroup memory
 * each product needs, but the more registers the lane uses.
 */
export interface WorkgroupTileSizes {
  readonly kind?: 'workgroup';
  /** The number of lanes across keys (and across channels of a result). */
  readonly tx: number;
  /** The number of lanes across queries. */
  readonly ty: number;
  /** The number of queries per lane. Default 4. */
  readonly rows?: 4 | 8;
  /** The number of vec4s of keys per lane. Default 1. */
  readonly cols?: 1 | 2;
  /** The number of vec4s of each row in one chunk while scores are computed. */
  readonly headDimChunk: number;
  /**
   * The type in which workgroup memory holds operands. f16 halves the memory and the traffic for f16
   * operands, without rounding. Default f32.
   */
  readonly stagingDType?: 'f32' | 'f16';
}

/** A tile in workgroup memory as plain data. */
export interface WorkgroupTileShape extends WorkgroupTileSizes {
  /**
   * The type of products. f16 is allowed only in forward kernels, for operands staged in f16: a few products
   * are added in f16 before their sum is added to sums in f32. This takes fewer instructions on devices that
   * process two f16 numbers per instruction. `f16Arithmetic` bounds the error. Default f32.
   */
  readonly arithmetic?: 'f32' | 'f16';
  /**
   * Whether lanes read the next chunk from storage into registers while they compute. The results have the
   * same bits. Default false.
   */
  readonly prefetch?: boolean;
  /**
   * Whether copies and sums are unrolled: a lane has several reads of storage in flight, and adds several
   * rows per loop iteration. The longer text takes longer to compile. The results have the same bits. Default
   * false.
   */
  readonly unrolled?: boolean;
  /**
   * How forward reduces the rows of scores to their maxima and sums: in workgroup memory, or by shuffles in a
   * subgroup, which use neither memory nor barriers. With 'subgroup', `tx` must be a power of two up to the
   * device's smallest subgroup size, and the number of lanes a multiple of its largest. Default 'workgroup'.
   */
  readonly rowReduction?: 'workgroup' | 'subgroup';
  /**
   * The number of lanes in each subgroup, for which the device needs the feature `subgroup-size-control`. On
   * Intel's GPUs, the lanes of smaller subgroups have more registers. The results have the same bits.
   * Default: the device chooses.
   */
  readonly subgroupSize?: number | undefined;
}

/**
 * A tile in workgroup memory in the form that its kernels are written from: with all sizes, and with the code
 * of its variants.
 */
export interface WorkgroupTile extends LaneGrid {
  readonly headDimChunk: number;
  readonly stagingDType: 'f32' | 'f16';
  readonly arithmetic: TileArithmetic | null;
  readonly prefetch: TilePrefetch | null;
  readonly unrolling: TileUnrolling | null;
  /** `wholeChunks` of tiles that trade registers for fewer instructions. */
  readonly wholeChunks?:
    | ((gemms: readonly ScoreGemm[], headDimChunk: number) => string | undefined)
    | undefined;
  readonly rowReduction: TileRowReduction;
}

/**
 * How the tile multiplies, if not entirely in f32. From the first chunk in which its search finds a vector,
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
  /** The searches among the vectors of score products, and among those of sums of rows. */
  readonly search: { readonly scores: VectorSearch; readonly sums: VectorSearch };
  /** Statements that add the products of a chunk to the scores `SUM0`, … */
  scores(tile: WorkgroupTile, sum: string): string;
  /** Statements that add the weighted rows of a chunk to the sums. */
  sums(chunk: WeightedChunk): string;
  /** The reason why a tile cannot multiply in this way, or null. */
  reason(role: TileRole, tile: WorkgroupTile): string | null;
}

/** Rows in workgroup memory that are weighted and added. */
export interface WeightedChunk {
  readonly rows: number;
  /**
   * Statements that read the weights of row k, and this lane's vectors of row k, in the types of workgroup
   * memory.
   */
  readonly read: string;
  /**
   * Makes text for each sum of a row r and vector n, with the name of the sum, the weight, and the weighted
   * vector.
   */
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
 * A search, among vectors that are copied to workgroup memory, for a NaN, an infinity or a value that is too
 * large for the tile's arithmetic. The kernel sets `non_finite` if it finds one.
 */
export interface VectorSearch {
  /** WGSL condition under which lanes search; it is the same for all lanes. */
  readonly guard: string;
  /** WGSL condition that the vector `x` is to be found. */
  readonly finds: (x: string) => string;
}

/**
 * vec4s of an operand that the lanes together copy from storage to workgroup memory. The texts below refer to
 * the n-th of them.
 */
export interface Chunk {
  readonly vectors: number;
  /** Statements that declare what the other statements need, if anything. */
  readonly given?: string;
  /**
   * Statements that declare the row `s` and the channel `d` of the vector in the chunk that starts at `from`.
   */
  readonly declare: (from: string) => string;
  /** The operand that is copied; of two operands, the one whose number is `product`. */
  readonly operands: readonly TileOperand[];
  /** WGSL expression of the operand's head size. */
  readonly channels: string;
  /** The search for vectors that the tile cannot multiply as usual, which runs while they are copied. */
  readonly search?: VectorSearch | undefined;
  /** WGSL index `[line][lane]` of the vector in `staged`. */
  readonly slot: string;
}

/** A loop over chunks: its variable, the expression of its end, and its step. */
export interface ChunkLoop {
  readonly at: string;
  readonly end: string;
  readonly step: number;
}

/** vec4s of chunks that a lane holds in registers on their way to workgroup memory, as statements. */
export interface FetchedVectors {
  readonly declare: string;
  /** Reads the vec4s of the chunks that start at `from`. */
  readonly read: (from: string) => string;
  /** Searches the vec4s, and stores them to workgroup memory. */
  readonly store: string;
}

/** How loops of a tile are unrolled. */
export interface TileUnrolling {
  scoreVectors(grid: LaneGrid): ScoreVectors;
  /** Statements that copy chunks from storage to workgroup memory. */
  copy(tile: WorkgroupTile, chunks: readonly Chunk[], from: string): string;
  /** The parts of such a copy, for chunks that are read long before they are stored. */
  fetch(tile: WorkgroupTile, chunks: readonly Chunk[]): FetchedVectors;
  /** Statements that add the weighted rows of a chunk to the sums, several rows per loop iteration. */
  sums(rows: number, addRow: (row: string) => string): string;
}

/** How chunks are read into registers before they are copied to workgroup memory. */
export interface TilePrefetch {
  /** Statements that read the first chunks of a loop. */
  begin(tile: WorkgroupTile, chunks: readonly Chunk[]): string;
  /** The loop, which follows the statements of `begin` in the same block. */
  overChunks(tile: WorkgroupTile, loop: ChunkLoop, chunks: readonly Chunk[], body: string): string;
  /** The reason why a tile cannot prefetch, or null. */
  reason(tile: WorkgroupTile): string | null;
}

/** How the lanes of a tile get their coordinates, and how the lanes of a row reduce the row. */
export interface TileRowReduction {
  readonly part: (grid: LaneGrid) => ShaderPart;
  /** The bytes of each of its variables in workgroup memory. */
  bytes(grid: LaneGrid): readonly number[];
  /** Statements that declare `tx` and `ty`: each point of the grid belongs to one lane, in any order. */
  lane(grid: LaneGrid): string;
  /** `TileBackend.reduceRows` of this tile. */
  reduceRows(grid: LaneGrid, reduction: RowReduction): string;
  /** The reason why a device cannot reduce rows in this way, or null. */
  reason(role: TileRole, grid: LaneGrid, capabilities: Capabilities): string | null;
}
