import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { bytesOfVariables, type Stationary } from '../tile.ts';
import type { ScoreGemm, TileOperand } from '../tile-backend.ts';
import { streamedOperands } from '../tile-operands.ts';
import type { MatrixTileShape } from './shape.ts';

/**
 * The number of rows that a subgroup holds, and the number of rows of the other side that it streams at a
 * time.
 */
export const heldRows: number = 16;
export const streamedRows: number = 32;

/** Channels are processed in whole blocks of 16, which every matrix shape divides. */
export const block: number = 16;
export const blocks = (D: number): number => Math.ceil(D / block);

/*
 * Matrices are loaded from and stored to arrays of vec4s, so offsets and pitches are in vec4s. In an array of
 * numbers, each number that a lane reads or writes would be a separate access with its own bounds check.
 */

/** The number of vec4s in 16 bytes, by which rows are padded so that they start in different banks. */
export const padding = ({ matrix }: MatrixTileShape): number => (matrix.component === 'f16' ? 2 : 1);

/** The number of vec4s in a row of D channels. */
export const width = (D: number): number => (block * blocks(D)) / 4;

/**
 * The number of vec4s from one row to the next: in a pool, in `scratch` (scores or 16 channels of results),
 * and in weights.
 */
export const poolPitch = (tile: MatrixTileShape, D: number): number => width(D) + padding(tile);
export const scratchPitch = ({ stationary }: MatrixTileShape): number => scoreColumns[stationary] / 4 + 1;
export const weightsPitch = (tile: MatrixTileShape): number =>
  scoreColumns[tile.stationary] / 4 + padding(tile);

/** The number of rows and of columns of a subgroup's scores, which are queries by keys. */
const scoreRows: Readonly<Record<Stationary, number>> = { queries: heldRows, keys: streamedRows };
const scoreColumns: Readonly<Record<Stationary, number>> = { queries: streamedRows, keys: heldRows };

/**
 * The number of vec4s in a subgroup's part of `scratch` (one matrix of products, or 16 channels of results),
 * and in its part of `weights` (one sum).
 */
export const scratchSize = (tile: MatrixTileShape): number => scoreRows[tile.stationary] * scratchPitch(tile);
export const weightsSize = (tile: MatrixTileShape): number => scoreRows[tile.stationary] * weightsPitch(tile);

/**
 * WGSL: the index of the lane's first of four vec4s of scores or weights within those of its subgroup;
 * `pitch` is the number of vec4s from one row to the next.
 */
export const firstOfLane = ({ stationary }: MatrixTileShape, pitch: number): string =>
  stationary === 'queries' ? `subgroup_lane / 2u * ${pitch}u + tx * 4u` : `subgroup_lane * ${pitch}u`;

/**
 * The number of vec4s in a pool: enough for the streamed rows, and for at least one block of the held rows,
 * which pass through the pool first.
 */
export const poolSize = (tile: MatrixTileShape, D: number): number =>
  Math.max(streamedRows * poolPitch(tile, D), heldRows * tile.subgroups * poolPitch(tile, block));

/** The workgroup memory for an operand whose rows are streamed. */
export const poolOf = ({ name }: Pick<TileOperand, 'name'>): string => `${name}_pool`;

/**
 * The bytes of workgroup memory that a kernel needs; `streamed` are the head sizes of its streamed operands.
 */
export function memoryOf(
  tile: MatrixTileShape,
  { streamed, sums }: { readonly streamed: readonly number[]; readonly sums: number },
): number {
  const { subgroups, matrix } = tile;
  const bytes = matrix.component === 'f16' ? 8 : 16;
  return bytesOfVariables([
    ...streamed.map(D => bytes * poolSize(tile, D)),
    16 * subgroups * scratchSize(tile),
    bytes * subgroups * weightsSize(tile) * sums,
    4,
  ]);
}

/** `scratch` holds scores, and parts of results; in `notes`, lanes tell each other about a tile. */
export function declarations(
  tile: MatrixTileShape,
  gemms: readonly ScoreGemm[],
  summed: readonly TileOperand[],
): ShaderPart {
  const { subgroups, matrix } = tile;
  const vector = `vec4<${matrix.component}>`;
  return {
    code: `${streamedOperands(tile, gemms, summed)
      .map(operand => `var<workgroup> ${poolOf(operand)}: array<${vector}, ${poolSize(tile, operand.D)}>;`)
      .join('\n')}
var<workgroup> scratch: array<vec4f, ${subgroups * scratchSize(tile)}>;
var<workgroup> weights: array<${vector}, ${subgroups * weightsSize(tile) * summed.length}>;
var<workgroup> notes: atomic<u32>;`,
  };
}

/** Bits of `notes`: the rows to be added contain a NaN or infinity; some results must be rescaled. */
export const note = { nonFinite: 1, rescale: 2 } as const;
