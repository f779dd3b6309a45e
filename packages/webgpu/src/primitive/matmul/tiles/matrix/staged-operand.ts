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
  /** The index in `staged` of its first array, and the number of its arrays. */
  readonly array: number;
  readonly count: number;
  /** The length of each array along the side. */
  readonly length: number;
  /** WGSL: the index at which the operand starts in memory, and the tile's first index along the side. */
  readonly start: string;
  readonly first: string;
}

export const stagedA = ({ down, rows }: MatrixMatMulShape, side: Side): StagedOperand => ({
  ...{ side, array: 0, count: down, length: rows, start: 'a_at', first: 'm0' },
});

export const stagedB = ({ down, across, columns }: MatrixMatMulShape, side: Side): StagedOperand => ({
  ...{ side, array: down, count: across, length: columns, start: 'b_at', first: 'n0' },
});

/**
 * The arrays of both operands. At the end, each subgroup passes its sums through one of these arrays. With 9
 * KiB of their own for the sums, a product of 4096 × 4096 took 1.8 times as long on an H200: two workgroups
 * fit into a multiprocessor if each has at most about 24 KiB of memory.
 */
export const stagedArrays: MatrixArray = { name: 'staged', of: 'operands', nested: true };

/**
 * The number of vec4s in an array of the given length along the side. Its vectors run along the sum in one
 * term of a product, and along the side in another.
 */
const sizeFor = ({ depth, matrix }: MatrixMatMulShape, length: number): number =>
  Math.max(length * (depth / 4 + rowPadding(matrix)), depth * (length / 4 + rowPadding(matrix)));

/** The number of sums in a vec4. */
export const sumsPerVector = ({ matrix }: MatrixMatMulShape): number => (matrix.component === 'f16' ? 2 : 4);

/** The number of vec4s from one row of sums to the next, if some columns of C pass through an array. */
export const sumsPitch = (shape: MatrixMatMulShape, columns: number): number =>
  columns / sumsPerVector(shape) + rowPadding(shape.matrix);

/** The number of vec4s in each array: there is room for staged operands, and for 16 × 16 sums. */
export const arraySize = (shape: MatrixMatMulShape): number =>
  Math.max(sizeFor(shape, shape.rows), sizeFor(shape, shape.columns), 16 * sumsPitch(shape, 16));

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
    const before = turn * workers;
    const n = `(lane + ${before}u)`;
    // If the lanes are a multiple of a line's vectors, a lane has the same vector of a line in all turns.
    const [line, vector] =
      workers % vectors === 0
        ? [`(lane / ${vectors}u + ${before / vectors}u)`, `lane % ${vectors}u`]
        : [`${n} / ${vectors}u`, `${n} % ${vectors}u`];
    const [x, k] = alongSum ? [line, `4u * (${vector})`] : [`4u * (${vector})`, line];
    const [own, row, column] = alongSum
      ? [`${line} / ${length}u`, `${line} % ${length}u`, vector]
      : [`${vector} / ${ownVectors}u`, line, `${vector} % ${ownVectors}u`];
    return {
      name: `${side.matrix.name}_fetched${turn}`,
      /** Whether some lanes have no vector in this turn. */
      partial: (turn + 1) * workers > total,
      isOwn: `${n} < ${total}u`,
      fetch: (from: string, isWhole: boolean): string =>
        `${side.matrix.name}_fetch(${start}, ${first} + ${x}, ${from} + ${k}, ${isWhole})`,
      target: `staged[${array}u + ${own}][(${row}) * ${pitch}u + ${column}]`,
    };
  });
}

/** Statements that declare the fetched vectors. */
export const declareFetched = (shape: MatrixMatMulShape, operand: StagedOperand): string =>
  turnsOf(shape, operand)
    .map(({ name }) => `var ${name} = vec4<${shape.matrix.component}>();`)
    .join('\n');

/**
 * Statements that fetch an operand's vectors from step `from` of the sum on. `isWhole`: all of these steps
 * are within the matrix.
 */
export const fetchOperand = (
  shape: MatrixMatMulShape,
  operand: StagedOperand,
  from: string,
  isWhole: boolean,
): string =>
  turnsOf(shape, operand)
    .map(({ name, fetch }) => `${name} = ${fetch(from, isWhole)};`)
    .join('\n');

/** Statements that store the fetched vectors to workgroup memory. */
export const storeFetched = (shape: MatrixMatMulShape, operand: StagedOperand): string =>
  turnsOf(shape, operand)
    .map(({ name, partial, isOwn, target }) => {
      const stored = `${target} = ${name};`;
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
    in: `staged[${operand.array}u + ${array}]`,
    offset: `${line * pitch + element / 4}u`,
    stride: pitch,
    order: linesAreRows ? 'row_major' : 'col_major',
  };
}
