import { bytesOfVariables, isForward, type TileRole, tileCols, tileRows } from '../tile.ts';
import type { WorkgroupTile } from './workgroup-tile.ts';

/** Queries, and keys, of a tile. */
export const rowsOf = (tile: WorkgroupTile): number => tileRows({ grid: tile });
export const colsOf = (tile: WorkgroupTile): number => tileCols({ grid: tile });

/**
 * vec4s from one row in workgroup memory to the next: an odd number, so that rows start in different banks.
 */
const pitch = (used: number): number => used + 1 - (used % 2);

/** vec4s from one staged row to the next while scores are computed. */
export const stagedPitch = ({ headDimChunk }: WorkgroupTile): number => pitch(headDimChunk);

/** vec4s of weights that a lane has of each of its keys, or of each of its queries. */
export const weightsOfLane = ({ rows, cols }: WorkgroupTile, over: 'keys' | 'queries'): number =>
  over === 'keys' ? rows / 4 : cols;

/** vec4s from the weights of one key to those of the next, or from those of one query. */
export const weightsPitch = (tile: WorkgroupTile, over: 'keys' | 'queries'): number =>
  pitch(weightsOfLane(tile, over) * (over === 'keys' ? tile.ty : tile.tx));

/** vec4s of operands that workgroup memory holds at a time. */
export const stagedVectors = (tile: WorkgroupTile): number =>
  (rowsOf(tile) + colsOf(tile)) * stagedPitch(tile);
const weightVectors = (tile: WorkgroupTile): number =>
  Math.max(colsOf(tile) * weightsPitch(tile, 'keys'), rowsOf(tile) * weightsPitch(tile, 'queries'));

export const vectorType = ({ stagingDType }: WorkgroupTile): string =>
  stagingDType === 'f16' ? 'vec4<f16>' : 'vec4f';

/** The vec4f `x` as it is staged. */
export const stagedValue = ({ stagingDType }: WorkgroupTile): string =>
  stagingDType === 'f16' ? 'vec4<f16>(x)' : 'x';

/** A staged vec4 as a vec4f. */
export const stagedAt = ({ stagingDType }: WorkgroupTile, at: string): string =>
  stagingDType === 'f16' ? `vec4f(staged[${at}])` : `staged[${at}]`;

/** Bytes of workgroup memory that a kernel on this tile needs. Only forward joins rows. */
export const workgroupTileMemory = (tile: WorkgroupTile, role: TileRole): number =>
  bytesOfVariables([
    (tile.stagingDType === 'f16' ? 8 : 16) * stagedVectors(tile),
    (tile.arithmetic?.weight.bytes ?? 16) * weightVectors(tile),
    4,
    ...(isForward(role) ? tile.rowReduction.bytes(tile) : []),
  ]);

/**
 * Workgroup memory: `staged` holds chunks of operands, `weights` the tile that multiplies an operand
 * (probabilities or their gradients), `non_finite` whether an operand held a NaN or infinity, or what else
 * the tile's arithmetic does not multiply.
 */
export const declarations = (
  tile: WorkgroupTile,
): string => `var<workgroup> staged: array<${vectorType(tile)}, ${stagedVectors(tile)}>;
var<workgroup> weights: array<${tile.arithmetic?.weight.type ?? 'vec4f'}, ${weightVectors(tile)}>;
var<workgroup> non_finite: atomic<u32>;`;

/** vec4s of a result row that each lane holds; lane x has vectors x, x + tx, x + 2·tx, … */
export const vectorsPerLane = (D: number, { tx }: WorkgroupTile): number => Math.ceil(D / 4 / tx);

/** vec4s of a result that each lane holds. */
export const resultVectors = (D: number, tile: WorkgroupTile): number => tile.rows * vectorsPerLane(D, tile);

/** The largest divisor of a number that is at most `most`. */
export function divisorUpTo(most: number, of: number): number {
  for (let n = Math.min(Math.floor(most), of); n > 0; n--) if (of % n === 0) return n;
  return 0;
}

/**
 * How many of `length` rows of D channels workgroup memory holds at a time: a divisor of `length`, 0 where
 * not one row has room.
 */
export const stagedRows = (tile: WorkgroupTile, D: number, length: number): number =>
  divisorUpTo(stagedVectors(tile) / (vectorsPerLane(D, tile) * tile.tx), length);

/** Whether a tile has room for rows of a result of D channels. */
export const hasRoomForRows = (tile: WorkgroupTile, D: number): boolean =>
  stagedRows(tile, D, colsOf(tile)) > 0 && stagedRows(tile, D, rowsOf(tile)) > 0;
