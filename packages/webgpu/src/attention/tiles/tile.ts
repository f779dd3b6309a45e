import type { AttentionProblem } from '@tilewise/core';
import type { Capabilities } from '../../device/capabilities.ts';
import type { TileWork } from './tile-backend.ts';
import type { TileChoice } from './tile-choice.ts';
import type { TileArithmetic } from './workgroup/arithmetic.ts';
import type { TilePrefetch } from './workgroup/chunks.ts';
import type { TileStatistics } from './workgroup/row-reduction.ts';

/**
 * A tile of scores, queries × keys, worked on by a grid of tx × ty lanes, each with the same share of it: see `laneGrid`.
 *
 * Nothing in the text of a kernel depends on a size: head sizes, lengths and masks' bounds are uniforms, so that problems
 * share compiled kernels. Only the number of vec4s that a lane accumulates is fixed when it is written.
 */
export type Tile = WorkgroupTile | SubgroupTile | MatrixTile;

/**
 * Operands pass through workgroup memory in chunks, so that head size does not decide how much of it is needed. The more scores a lane
 * has, the fewer reads of that memory there are for each product, and the more registers are taken.
 */
export interface WorkgroupTileSizes {
  readonly through?: 'workgroup';
  /** Lanes across keys (and across channels of a result), and across queries. */
  readonly tx: number;
  readonly ty: number;
  /** Queries of a lane. Default 4. */
  readonly rows?: 4 | 8;
  /** vec4s of a lane's keys. Default 1. */
  readonly cols?: 1 | 2;
  /** vec4s of each row that one chunk holds while scores are computed. */
  readonly depth: number;
  /**
   * What operands are held in: f16 takes half as much of the memory, and of the traffic to it, for operands of f16, which it holds as they
   * are. Default f32.
   */
  readonly pool?: 'f32' | 'f16';
}

/** What a tile through workgroup memory is made of, as plain data. What is not the default of the last three, `workgroupTile` brings. */
export interface WorkgroupTileShape extends WorkgroupTileSizes {
  /**
   * What is multiplied in. f16 is for forward alone, on a pool of f16: it adds a few products up in f16 before they go to sums of f32, which
   * takes fewer instructions where two fit into one. How far results are off then, see `f16Arithmetic`. Default f32.
   */
  readonly arithmetic?: 'f32' | 'f16';
  /** Lanes read what comes next from storage while they compute, and hold it in registers. The results are the same. Default false. */
  readonly prefetch?: boolean;
  /**
   * What joins the maxima and sums of rows over their lanes, in forward: workgroup memory, or the subgroup that these lanes lie in, which
   * takes neither memory nor barriers. `tx` is then a power of two up to the device's least subgroup, and the lanes are a multiple of its
   * largest. Default 'workgroup'.
   */
  readonly statistics?: 'workgroup' | 'subgroup';
}

/** A tile of such sizes, with the code of what of its shape is not the default. */
export interface WorkgroupTile extends WorkgroupTileSizes {
  readonly variants?: WorkgroupVariants;
}

/** How a tile does what its shape says, by the names that it has there. */
export interface WorkgroupVariants {
  readonly arithmetic?: TileArithmetic;
  readonly prefetch?: TilePrefetch;
  readonly statistics?: TileStatistics;
}

/** 4 × 4 scores a lane: what kernels that do more with scores than multiply them are written for. */
export interface PlainTile extends WorkgroupTileSizes {
  readonly rows?: 4;
  readonly cols?: 1;
}

/**
 * A lane keeps some rows, and meets `group` rows of the other side at a time: so many neighbours in a subgroup read one of them
 * each, and broadcast it to all. Takes neither workgroup memory nor barriers. Subgroups may have any size from `group` on.
 */
export interface SubgroupTile {
  readonly through: 'subgroup';
  /** What a lane keeps. */
  readonly own: 'queries' | 'keys';
  readonly lanes: number;
  readonly group: 4 | 8;
  /** Rows that a lane keeps: with 8, of what is read there is half as much for each product, and compilers take longer. A group of 4 has 4. Default 4. */
  readonly rows?: 4 | 8;
}

/** Rows that a lane of a subgroup's tile keeps. */
export const keptRows = ({ rows = 4 }: SubgroupTile): 4 | 8 => rows;

/**
 * A tile of a kind that few devices have: it brings what kernels are made of with it, so that only those who use it load it. See
 * `matrixTile`.
 */
export interface MatrixTile {
  readonly through: 'matrix';
  /** What subgroups keep. */
  readonly own: 'queries' | 'keys';
  readonly grid: LaneGrid;
  /** What operands are multiplied in, and must be stored in. */
  readonly component: 'f16' | 'f32';
  readonly work: TileWork;
  /** Why a device cannot compute a kernel of a problem on it, or nothing. */
  reason(role: keyof TileChoice, problem: AttentionProblem, capabilities: Capabilities): string | null;
}

/** What kernels on a tile read operands in, see `readOperand`. */
export const heldIn = (tile: Tile): 'f32' | 'f16' => (tile.through === 'matrix' ? tile.component : 'f32');

/** The lanes of a tile, and the share of each: lane (x, y) has `rows` queries from y · rows on, and `cols` vec4s of keys from 4 · x · cols on. */
export interface LaneGrid {
  readonly tx: number;
  readonly ty: number;
  readonly rows: number;
  readonly cols: number;
}

export function laneGrid(tile: Tile): LaneGrid {
  if (tile.through === 'matrix') return tile.grid;
  if (tile.through !== 'subgroup') {
    const { tx, ty, rows = 4, cols = 1 } = tile;
    return { tx, ty, rows, cols };
  }
  const { own, lanes, group } = tile;
  const rows = keptRows(tile);
  return own === 'queries'
    ? { tx: 1, ty: lanes, rows, cols: group / 4 }
    : { tx: lanes, ty: 1, rows: group, cols: rows / 4 };
}

/** Queries of a tile. */
export function tileRows(tile: Tile): number {
  const { ty, rows } = laneGrid(tile);
  return ty * rows;
}

/** Keys of a tile. */
export function tileCols(tile: Tile): number {
  const { tx, cols } = laneGrid(tile);
  return 4 * tx * cols;
}

export function tileLanes(tile: Tile): number {
  const { tx, ty } = laneGrid(tile);
  return tx * ty;
}

/** Workgroup memory that variables take: WebGPU rounds each up to 16 bytes. */
export const bytesOfVariables = (bytes: readonly number[]): number =>
  bytes.reduce((sum, each) => sum + 16 * Math.ceil(each / 16), 0);

/** Text for each of `n` numbers, joined. */
export const repeat = (n: number, text: (k: number) => string, separator = '\n'): string =>
  Array.from({ length: n }, (_, k) => text(k)).join(separator);

/** Text for each vec4 of a lane's scores: number b, of its query r and its key vector c. */
export const perBlock = (tile: Tile, text: (b: number, r: number, c: number) => string): string => {
  const { rows, cols } = laneGrid(tile);
  return repeat(rows * cols, b => text(b, Math.floor(b / cols), b % cols), '\n    ');
};
