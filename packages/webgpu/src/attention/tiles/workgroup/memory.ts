import { isForward } from '../forward-role.ts';
import { bytesOfVariables, laneGrid, tileCols, tileRows, type WorkgroupTile } from '../tile.ts';
import type { TileChoice } from '../tile-choice.ts';
import { statisticsOf } from './row-reduction.ts';

/** vec4s from one row in workgroup memory to the next: an odd number, so that rows start in different banks. */
const pitch = (used: number): number => used + 1 - (used % 2);

/** The same of rows of operands, whose chunks are `depth` vec4s. */
export const poolPitch = ({ depth }: WorkgroupTile): number => pitch(depth);

/** vec4s of weights that a lane has of each of its keys, or of each of its queries. */
export const weightsOfLane = (tile: WorkgroupTile, over: 'keys' | 'queries'): number => {
  const { rows, cols } = laneGrid(tile);
  return over === 'keys' ? rows / 4 : cols;
};

/** vec4s from the weights of one key to those of the next, or from those of one query. */
export const weightsPitch = (tile: WorkgroupTile, over: 'keys' | 'queries'): number =>
  pitch(weightsOfLane(tile, over) * (over === 'keys' ? tile.ty : tile.tx));

export const poolVectors = (tile: WorkgroupTile): number =>
  (tileRows(tile) + tileCols(tile)) * poolPitch(tile);
const weightVectors = (tile: WorkgroupTile): number =>
  Math.max(tileCols(tile) * weightsPitch(tile, 'keys'), tileRows(tile) * weightsPitch(tile, 'queries'));

const vectorBytes = ({ pool }: WorkgroupTile): number => (pool === 'f16' ? 8 : 16);
export const vectorType = ({ pool }: WorkgroupTile): string => (pool === 'f16' ? 'vec4<f16>' : 'vec4f');

/** A vec4 of the pool as a vec4f. */
export const pooled = ({ pool }: WorkgroupTile, at: string): string =>
  pool === 'f16' ? `vec4f(pool[${at}])` : `pool[${at}]`;

/** Bytes of workgroup memory that a kernel on this tile needs. Forward alone joins rows; MXFP8, which rounds their blocks, has tiles of the table. */
export const workgroupTileMemory = (tile: WorkgroupTile, role: keyof TileChoice = 'forward'): number =>
  bytesOfVariables([
    vectorBytes(tile) * poolVectors(tile),
    (tile.variants?.arithmetic?.weight.bytes ?? 16) * weightVectors(tile),
    4,
    ...(isForward(role) ? statisticsOf(tile).bytes(tile) : []),
  ]);

/**
 * Workgroup memory: `pool` holds operand chunks, `weights` the tile that multiplies an operand (probabilities or their
 * gradients), `garbage` whether an operand held a NaN or infinity, or what else the tile's arithmetic does not multiply.
 */
export const declarations = (
  tile: WorkgroupTile,
): string => `var<workgroup> pool: array<${vectorType(tile)}, ${poolVectors(tile)}>;
var<workgroup> weights: array<${tile.variants?.arithmetic?.weight.type ?? 'vec4f'}, ${weightVectors(tile)}>;
var<workgroup> garbage: atomic<u32>;`;

/** vec4s of a result row that each lane holds; lane x has vectors x, x + tx, x + 2·tx, … */
export const vectorsPerLane = (D: number, { tx }: WorkgroupTile): number => Math.ceil(D / 4 / tx);

/** vec4s of a result that each lane holds. */
export const resultVectors = (D: number, tile: WorkgroupTile): number =>
  laneGrid(tile).rows * vectorsPerLane(D, tile);

/** The largest divisor of a number that is at most `most`. */
export function divisorUpTo(most: number, of: number): number {
  for (let n = Math.min(Math.floor(most), of); n > 0; n--) if (of % n === 0) return n;
  return 0;
}

/** Of `length` rows of D channels, how many are in the pool at a time: all such parts are of one size. 0 where not one has room. */
export const rowsInPool = (tile: WorkgroupTile, D: number, length: number): number =>
  divisorUpTo(poolVectors(tile) / (vectorsPerLane(D, tile) * tile.tx), length);

/** Whether a tile has room for rows of a result of D channels. */
export const hasRoomForRows = (tile: WorkgroupTile, D: number): boolean =>
  rowsInPool(tile, D, tileCols(tile)) > 0 && rowsInPool(tile, D, tileRows(tile)) > 0;
