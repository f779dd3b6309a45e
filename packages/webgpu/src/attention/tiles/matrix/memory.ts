import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { bytesOfVariables, type Stationary } from '../tile.ts';
import type { ScoreGemm, TileOperand } from '../tile-backend.ts';
import { streamedOperands } from '../tile-operands.ts';
import type { MatrixTileShape } from './shape.ts';

/** Rows that a subgroup holds, and rows of the other side that it streams at a time. */
export const heldRows: number = 16;
export const streamedRows: number = 32;

/** Channels of a row in whole blocks of 16, which every shape of matrix divides. */
export const block: number = 16;
export const blocks = (D: number): number => Math.ceil(D / block);

/*
 * Matrices are loaded from and stored to arrays of vec4s, so places and pitches are in vec4s. In an array
 * of numbers each number that a lane reads or writes would be an access of its own, with bounds that are
 * checked.
 */

/** vec4s in 16 bytes, by which rows are padded, so that they start in different banks. */
export const padding = ({ matrix }: MatrixTileShape): number => (matrix.component === 'f16' ? 2 : 1);

/** vec4s of a row of so many channels. */
export const width = (D: number): number => (block * blocks(D)) / 4;

/**
 * vec4s from one row to the next: of a pool, of scores or 16 channels of results in `scratch`, of weights.
 */
export const poolPitch = (tile: MatrixTileShape, D: number): number => width(D) + padding(tile);
export const scratchPitch = ({ stationary }: MatrixTileShape): number => scoreColumns[stationary] / 4 + 1;
export const weightsPitch = (tile: MatrixTileShape): number =>
  scoreColumns[tile.stationary] / 4 + padding(tile);

/** Rows and columns of a subgroup's scores: queries by keys. */
const scoreRows: Readonly<Record<Stationary, number>> = { queries: heldRows, keys: streamedRows };
const scoreColumns: Readonly<Record<Stationary, number>> = { queries: streamedRows, keys: heldRows };

/**
 * vec4s of a subgroup's part of `scratch` (one matrix of products, or 16 channels of results), and of its
 * part of `weights` (one sum).
 */
export const scratchSize = (tile: MatrixTileShape): number => scoreRows[tile.stationary] * scratchPitch(tile);
export const weightsSize = (tile: MatrixTileShape): number => scoreRows[tile.stationary] * weightsPitch(tile);

/**
 * WGSL: the first of a lane's four vec4s of scores, or weights, among those of its subgroup, with so many
 * vec4s from one row to the next.
 */
export const firstOfLane = ({ stationary }: MatrixTileShape, pitch: number): string =>
  stationary === 'queries' ? `subgroup_lane / 2u * ${pitch}u + tx * 4u` : `subgroup_lane * ${pitch}u`;

/** vec4s of a pool: the streamed rows, and before these at least one block of the held rows. */
export const poolSize = (tile: MatrixTileShape, D: number): number =>
  Math.max(streamedRows * poolPitch(tile, D), heldRows * tile.subgroups * poolPitch(tile, block));

/** The workgroup memory of an operand whose rows are streamed. */
export const poolOf = ({ name }: Pick<TileOperand, 'name'>): string => `${name}_pool`;

/** Bytes of workgroup memory that a kernel needs: `streamed` are the head sizes of its streamed operands. */
export function memoryOf(
  tile: MatrixTileShape,
  {
    streamed,
    gemms,
    sums,
  }: { readonly streamed: readonly number[]; readonly gemms: number; readonly sums: number },
): number {
  const { subgroups, matrix } = tile;
  const bytes = matrix.component === 'f16' ? 8 : 16;
  return bytesOfVariables([
    ...streamed.map(D => bytes * poolSize(tile, D)),
    16 * subgroups * scratchSize(tile) * gemms,
    bytes * subgroups * weightsSize(tile) * sums,
    4,
  ]);
}

/** `scratch` takes scores, and results in parts; `notes` is what lanes tell each other of a tile. */
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
var<workgroup> scratch: array<vec4f, ${subgroups * scratchSize(tile) * gemms.length}>;
var<workgroup> weights: array<${vector}, ${subgroups * weightsSize(tile) * summed.length}>;
var<workgroup> notes: atomic<u32>;`,
  };
}

/** Bits of `notes`: rows that are added up hold a NaN or infinity; some results are to be rescaled. */
export const note = { nonFinite: 1, rescale: 2 } as const;
