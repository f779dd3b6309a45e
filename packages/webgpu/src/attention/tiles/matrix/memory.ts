import type { MatrixArray } from '../../../codegen/matrices/matrix-operations.ts';
import { lanes, rowPadding } from '../../../codegen/matrices/subgroup-lanes.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { ScoreGemm, TileOperand } from '../interface/tile-gemms.ts';
import { bytesOfVariables } from '../tile.ts';
import { streamedOperands } from '../tile-operands.ts';
import type { MatrixTileShape } from './shape.ts';

/** The number of rows that a subgroup holds. */
export const heldRows = ({ heldRows: rows = 16 }: MatrixTileShape): number => rows;

/** The number of rows of the other side that a subgroup streams at a time: each lane has 16 scores. */
export const streamedRows = (tile: MatrixTileShape): number => (16 * lanes) / heldRows(tile);

/** Channels are processed in whole blocks of 16, which every matrix shape divides. */
export const block: number = 16;
export const blocks = (D: number): number => Math.ceil(D / block);

/*
 * Matrices are loaded from and stored to arrays of vec4s, so offsets and pitches are in vec4s. In an array of
 * numbers, each number that a lane reads or writes would be a separate access with its own bounds check.
 */

/** The number of vec4s in a row of D channels. */
export const width = (D: number): number => (block * blocks(D)) / 4;

/**
 * The number of vec4s from one row to the next: of a staged operand, in `scratch` (scores or 16 channels of
 * results), and in `weights`.
 */
export const stagedPitch = (tile: MatrixTileShape, D: number): number => width(D) + rowPadding(tile.matrix);
export const scratchPitch = (tile: MatrixTileShape): number => scoreSides(tile).columns / 4 + 1;
export const weightsPitch = (tile: MatrixTileShape): number =>
  scoreSides(tile).columns / 4 + rowPadding(tile.matrix);

/** The number of rows and of columns of a subgroup's scores, which are queries by keys. */
function scoreSides(tile: MatrixTileShape): { readonly rows: number; readonly columns: number } {
  const [held, streamed] = [heldRows(tile), streamedRows(tile)];
  return tile.stationary === 'queries'
    ? { rows: held, columns: streamed }
    : { rows: streamed, columns: held };
}

/** The number of lanes that share a row of scores. */
export const lanesOfRow = (tile: MatrixTileShape): number => scoreSides(tile).columns / 16;

/**
 * The number of vec4s in a subgroup's part of `scratch` (one matrix of products, or 16 channels of results),
 * and in its part of `weights` (one sum).
 */
const scratchSize = (tile: MatrixTileShape): number => scoreSides(tile).rows * scratchPitch(tile);
export const weightsSize = (tile: MatrixTileShape): number => scoreSides(tile).rows * weightsPitch(tile);

/**
 * WGSL: the index of the lane's first of four vec4s of scores or weights within those of its subgroup;
 * `pitch` is the number of vec4s from one row to the next.
 */
export const firstOfLane = (tile: MatrixTileShape, pitch: number): string =>
  lanesOfRow(tile) === 1
    ? `subgroup_lane * ${pitch}u`
    : `subgroup_lane / 2u * ${pitch}u + subgroup_lane % 2u * 4u`;

/** The number of vec4s in the array of a staged operand. */
const stagedSize = (tile: MatrixTileShape, D: number): number => streamedRows(tile) * stagedPitch(tile, D);

/** WGSL: the array in workgroup memory that holds the streamed rows of an operand. */
export const stagedArray = ({ name }: Pick<TileOperand, 'name'>): string => `${name}_staged`;

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
    ...streamed.map(D => bytes * stagedSize(tile, D)),
    16 * subgroups * scratchSize(tile),
    bytes * subgroups * weightsSize(tile) * sums,
    4 * subgroups,
  ]);
}

/**
 * `scratch` holds scores, and parts of results. It is an array of arrays, so that the offsets of matrices are
 * constants: Dawn wraps a matrix load or store in a bounds check unless its offset is a constant. On an H200,
 * loads and products in a loop took 3.6 times as long with the checks.
 *
 * `weights` is one array nevertheless, because the compiler of NVIDIA's driver 580 moved loads of weights
 * with constant offsets out of the loop over tiles, in which the weights change. It does not move loads that
 * Dawn checks.
 */
export function declarations(
  tile: MatrixTileShape,
  gemms: readonly ScoreGemm[],
  summed: readonly TileOperand[],
): ShaderPart {
  const { subgroups, matrix } = tile;
  const vector = `vec4<${matrix.component}>`;
  return {
    code: `${streamedOperands(tile, gemms, summed)
      .map(
        operand =>
          `var<workgroup> ${stagedArray(operand)}: array<${vector}, ${stagedSize(tile, operand.D)}>;`,
      )
      .join('\n')}
var<workgroup> scratch: array<array<vec4f, ${scratchSize(tile)}>, ${subgroups}>;
var<workgroup> weights: array<${vector}, ${subgroups * weightsSize(tile) * summed.length}>;`,
  };
}

/** The variables that hold matrices. */
export const matrixArrays = (
  tile: MatrixTileShape,
  gemms: readonly ScoreGemm[],
  summed: readonly TileOperand[],
): readonly MatrixArray[] => [
  ...streamedOperands(tile, gemms, summed).map(operand => operandArray(stagedArray(operand))),
  operandArray('weights'),
  { name: 'scratch', of: 'sums', nested: true },
];

const operandArray = (name: string): MatrixArray => ({ name, of: 'operands', nested: false });

/** Bits of `flags`: the rows to be added contain a NaN or infinity; some results must be rescaled. */
export const flag = { nonFinite: 1, rescale: 2 } as const;
