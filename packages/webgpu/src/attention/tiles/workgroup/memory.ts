import { bytesOfVariables, isForward, type TileRole, tileSize } from '../tile.ts';
import type { WorkgroupTile } from './workgroup-tile.ts';

/**
 * The number of vec4s from one row in workgroup memory to the next: odd, so that rows start in different
 * banks.
 */
const pitch = (used: number): number => used + 1 - (used % 2);

/**
 * The number of vec4s in a staged line. Each lane of a row or column reads the vec4 at its own index in the
 * line.
 */
const lineLength = ({ tx, ty }: WorkgroupTile): number => pitch(Math.max(tx, ty));

/** The number of staged lines: one for each vec4 of a chunk that a lane reads to compute its scores. */
const stagedLines = ({ rows, cols, headDimChunk }: WorkgroupTile): number => (rows + 4 * cols) * headDimChunk;

/** The number of vec4s of weights that a lane has for each of its keys, or for each of its queries. */
export const weightsOfLane = ({ rows, cols }: WorkgroupTile, over: 'keys' | 'queries'): number =>
  over === 'keys' ? rows / 4 : cols;

/**
 * The number of vec4s from the weights of one key to those of the next. It is the same from one query to the
 * next, because a tile whose sums are over queries is square.
 */
const weightsPitch = (tile: WorkgroupTile): number => pitch(weightsOfLane(tile, 'keys') * tile.ty);

/** The number of operand vec4s that workgroup memory has room for. */
export const stagedVectors = (tile: WorkgroupTile): number => stagedLines(tile) * lineLength(tile);
const weightVectors = (tile: WorkgroupTile): number => tileSize(tile).cols * weightsPitch(tile);

export const vectorType = ({ stagingDType }: WorkgroupTile): string =>
  stagingDType === 'f16' ? 'vec4<f16>' : 'vec4f';

/** The vec4f `x` in the type in which it is staged. */
export const stagedValue = ({ stagingDType }: WorkgroupTile): string =>
  stagingDType === 'f16' ? 'vec4<f16>(x)' : 'x';

/** The staged vec4 at the index `[line][lane]`, as a vec4f. */
export const stagedAt = ({ stagingDType }: WorkgroupTile, at: string): string =>
  stagingDType === 'f16' ? `vec4f(staged${at})` : `staged${at}`;

/**
 * The workgroup memory that a kernel uses with this tile, in bytes. Only forward kernels reduce rows of
 * scores.
 */
export const workgroupTileMemory = (tile: WorkgroupTile, role: TileRole): number =>
  bytesOfVariables([
    (tile.stagingDType === 'f16' ? 8 : 16) * stagedVectors(tile),
    (tile.arithmetic?.weight.bytes ?? 16) * weightVectors(tile),
    4,
    ...(isForward(role) ? tile.rowReduction.bytes(tile) : []),
  ]);

/**
 * Workgroup memory: `staged` holds chunks of operands, `weights` the tile that multiplies an operand
 * (probabilities or their gradients), and `non_finite` whether an operand contained a NaN, an infinity, or
 * another value that the tile's arithmetic cannot multiply. Both arrays consist of lines: WebGPU's bounds
 * check is then a check of the line, which is constant or the same for all lanes, and of the lane's index,
 * which is checked only once.
 */
export const declarations = (
  tile: WorkgroupTile,
): string => `var<workgroup> staged: array<array<${vectorType(tile)}, ${lineLength(tile)}>, ${stagedLines(tile)}>;
var<workgroup> weights: array<array<${tile.arithmetic?.weight.type ?? 'vec4f'}, ${weightsPitch(tile)}>, ${tileSize(tile).cols}>;
var<workgroup> non_finite: atomic<u32>;`;

/** The number of vec4s of a result row that each lane holds; lane x has vectors x, x + tx, x + 2·tx, … */
export const vectorsPerLane = (D: number, { tx }: WorkgroupTile): number => Math.ceil(D / 4 / tx);

/** The number of vec4s of a result that each lane holds. */
export const resultVectors = (D: number, tile: WorkgroupTile): number => tile.rows * vectorsPerLane(D, tile);

/** The largest divisor of `of` that is at most `most`. */
export function divisorUpTo(most: number, of: number): number {
  for (let n = Math.min(Math.floor(most), of); n > 0; n--) if (of % n === 0) return n;
  return 0;
}

/**
 * How many of `length` rows of D channels workgroup memory holds at a time: a divisor of `length`; 0 if there
 * is no room for a single row.
 */
export const stagedRows = (tile: WorkgroupTile, D: number, length: number): number =>
  divisorUpTo(stagedLines(tile) / vectorsPerLane(D, tile), length);

/** Whether a tile has room for rows of a result with D channels. */
export function hasRoomForRows(tile: WorkgroupTile, D: number): boolean {
  const { rows, cols } = tileSize(tile);
  return stagedRows(tile, D, cols) > 0 && stagedRows(tile, D, rows) > 0;
}
