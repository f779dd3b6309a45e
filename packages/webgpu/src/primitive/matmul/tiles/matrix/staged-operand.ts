import type { MatrixArray, MatrixPlace } from '../../../../codegen/matrices/matrix-operations.ts';
import { lanes, rowPadding } from '../../../../codegen/matrices/subgroup-lanes.ts';
import type { Side } from '../../operands/matrix-blocks.ts';
import { type MatrixMatMulShape, subgroupsOf } from './shape.ts';

/**
 * An operand in workgroup memory: an array for each row of subgroups (A) or each column (B), so that matrices
 * have constant offsets. Dawn wraps all other loads in bounds checks, with which loads and products in a loop
 * took 3.6 times as long on an H200.
 *
 * NVIDIA's compiler moved some loads with constant offsets out of a loop in which the memory changes: see
 * `declarations` of attention's matrix tiles. The kernel that measures the peak of a device has the form of
 * this one and gives the right results on an H200, but it has only operands stored row by row and one term.
 */
export interface StagedOperand {
  readonly side: Side;
  readonly array: 'a_tile' | 'b_tile';
  /** The number of arrays, and the length of each along the side. */
  readonly count: number;
  readonly length: number;
  /** WGSL: the index at which the operand starts in memory, and the tile's place along the side. */
  readonly start: string;
  readonly first: string;
}

export const stagedA = ({ down, rows }: MatrixMatMulShape, side: Side): StagedOperand => ({
  ...{ side, array: 'a_tile', count: down, length: rows, start: 'a_at', first: 'm0' },
});

export const stagedB = ({ across, columns }: MatrixMatMulShape, side: Side): StagedOperand => ({
  ...{ side, array: 'b_tile', count: across, length: columns, start: 'b_at', first: 'n0' },
});

/** The variables of the two operands. */
export const stagedArrays: readonly MatrixArray[] = (['a_tile', 'b_tile'] as const).map(name => ({
  ...{ name, holds: 'operands', nested: true },
}));

/**
 * The number of vec4s in an array of the given length along the side. Its vectors run along the sum in one
 * term of a product, and along the side in another.
 */
export const arraySize = ({ depth, matrix }: MatrixMatMulShape, length: number): number =>
  Math.max(length * (depth / 4 + rowPadding(matrix)), depth * (length / 4 + rowPadding(matrix)));

/** The lines of an operand, which consist of vectors along the sum or along the side. */
interface Lines {
  readonly alongSum: boolean;
  /** The number of lines to fetch, and of vec4s in each: a line along the side goes through all arrays. */
  readonly count: number;
  readonly vectors: number;
  /** The number of vec4s in a line of one array, and from one of these lines to the next. */
  readonly ownVectors: number;
  readonly pitch: number;
}

function linesOf({ depth, matrix }: MatrixMatMulShape, { side, count, length }: StagedOperand): Lines {
  const alongSum = side.vectors === 'sum';
  const ownVectors = (alongSum ? depth : length) / 4;
  return {
    ...{ alongSum, ownVectors, pitch: ownVectors + rowPadding(matrix) },
    ...(alongSum
      ? { count: count * length, vectors: ownVectors }
      : { count: depth, vectors: count * ownVectors }),
  };
}

/** The vectors that lanes fetch, one in each turn. */
function turnsOf(shape: MatrixMatMulShape, operand: StagedOperand) {
  const { alongSum, vectors, ownVectors, pitch, count } = linesOf(shape, operand);
  const { side, array, length, start, first } = operand;
  const workers = lanes * subgroupsOf(shape);
  const total = vectors * count;
  return Array.from({ length: Math.ceil(total / workers) }, (_, turn) => {
    const n = turn === 0 ? 'lane' : `(lane + ${turn * workers}u)`;
    const [line, vector] = [`${n} / ${vectors}u`, `${n} % ${vectors}u`];
    const [x, k] = alongSum ? [line, `4u * (${vector})`] : [`4u * (${vector})`, line];
    const [own, row, column] = alongSum
      ? [`${line} / ${length}u`, `${line} % ${length}u`, vector]
      : [`${vector} / ${ownVectors}u`, line, `${vector} % ${ownVectors}u`];
    return {
      name: `${side.matrix.name}_fetched${turn}`,
      /** Whether some lanes have no vector in this turn. */
      partial: (turn + 1) * workers > total,
      isOwn: `${n} < ${total}u`,
      fetch: (from: string): string => `${side.matrix.name}_fetch(${start}, ${first} + ${x}, ${from} + ${k})`,
      place: `${array}[${own}][(${row}) * ${pitch}u + ${column}]`,
    };
  });
}

/** Statements that declare the fetched vectors. */
export const declareFetched = (shape: MatrixMatMulShape, operand: StagedOperand): string =>
  turnsOf(shape, operand)
    .map(({ name }) => `var ${name} = vec4<${shape.matrix.component}>();`)
    .join('\n');

/** Statements that fetch an operand's vectors from step `from` of the sum on. */
export const fetchOperand = (shape: MatrixMatMulShape, operand: StagedOperand, from: string): string =>
  turnsOf(shape, operand)
    .map(({ name, fetch }) => `${name} = ${fetch(from)};`)
    .join('\n');

/** Statements that store the fetched vectors to workgroup memory. */
export const storeFetched = (shape: MatrixMatMulShape, operand: StagedOperand): string =>
  turnsOf(shape, operand)
    .map(({ name, partial, isOwn, place }) => {
      const stored = `${place} = ${name};`;
      return partial ? `if (${isOwn}) {\n${stored}\n}` : stored;
    })
    .join('\n');

/**
 * The place of a matrix that starts at `side` along an operand's side, within the array with the index
 * `array`, and at `sum` along the sum.
 */
export function matrixPlace(
  shape: MatrixMatMulShape,
  operand: StagedOperand,
  array: string,
  at: { readonly side: number; readonly sum: number },
): MatrixPlace {
  const { alongSum, pitch } = linesOf(shape, operand);
  const [line, element] = alongSum ? [at.side, at.sum] : [at.sum, at.side];
  const linesAreRows = alongSum === (operand.side.extent === 'M');
  return {
    in: `${operand.array}[${array}]`,
    offset: `${line * pitch + element / 4}u`,
    stride: pitch,
    order: linesAreRows ? 'row_major' : 'col_major',
  };
}
