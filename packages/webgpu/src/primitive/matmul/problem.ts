import type { TensorDesc } from '@tilewise/core';
import type { Expr } from '@tilewise/core/expr';
import { inputName, type MatMulPrimitive } from '@tilewise/core/primitive';
import { broadcastStrides } from '../access/index-space.ts';
import { outputName } from '../access/primitive-tensors.ts';
import type { Matrix } from './operands/matrix.ts';
import { fewRows } from './tiles/tile.ts';

/** A (M × K) · B (K × N). The names of the matrices are those of their tensors. */
export interface Term {
  readonly K: number;
  readonly A: Matrix;
  readonly B: Matrix;
}

/** C (M × N), the sum of all terms, once for each index of `batch`. */
export interface MatMulProblem {
  readonly M: number;
  readonly N: number;
  readonly batch: readonly number[];
  readonly terms: readonly Term[];
  readonly C: Matrix;
  readonly epilogue: Epilogue | null;
}

/** An expression whose value at each position is stored in C instead of the product. */
export interface Epilogue {
  readonly result: Expr;
  /** The name of the product in the expression. */
  readonly product: string;
  /**
   * The tensors that the expression reads, with the dimensions of C; strides are 0 along broadcast
   * dimensions.
   */
  readonly operands: readonly Matrix[];
}

/**
 * The problem of a primitive whose tensors have been checked. `inputs` are A and B of each term, then the
 * tensors that the epilogue reads; `c` is the result. Batch dimensions are joined if possible, and a C with
 * contiguous columns is computed as Cᵀ = Bᵀ·Aᵀ, so that rows of results are contiguous wherever possible.
 * So is a C of few columns, because there are tiles for few rows.
 */
export function matmulProblem(
  { terms = 1, result }: MatMulPrimitive,
  inputs: readonly TensorDesc[],
  c: TensorDesc,
): MatMulProblem {
  const batch = c.shape.slice(0, -2);
  const [M, N] = c.shape.slice(-2);
  const operand = (n: number): Matrix => matrix(inputName(n), inputs[n], batch);
  const others = inputs.slice(2 * terms);
  const problem: MatMulProblem = {
    ...{ M, N, batch },
    terms: Array.from({ length: terms }, (_, t) => ({
      K: inputs[2 * t].shape[inputs[2 * t].shape.length - 1],
      A: operand(2 * t),
      B: operand(2 * t + 1),
    })),
    C: matrix(outputName(0), c, batch),
    epilogue: result
      ? {
          result,
          product: inputName(inputs.length),
          operands: others.map((desc, n) => matrix(inputName(2 * terms + n), spread(desc, c), batch)),
        }
      : null,
  };
  const rowsLieTogether = c.strides[c.strides.length - 1] === 1 || c.strides[c.strides.length - 2] !== 1;
  const joined = foldBatchIntoRows(joinBatch(rowsLieTogether ? problem : transposed(problem)));
  return joined.N <= fewRows && joined.M > joined.N ? transposed(joined) : joined;
}

/** Broadcasts a tensor to the rows and columns of another. */
function spread(desc: TensorDesc, { shape }: TensorDesc): TensorDesc {
  return { dtype: desc.dtype, shape, strides: broadcastStrides(desc, shape) };
}

/** The problem with each of its matrices changed. */
function withMatrices(problem: MatMulProblem, change: (matrix: Matrix) => Matrix): MatMulProblem {
  const { terms, C, epilogue } = problem;
  return {
    ...problem,
    terms: terms.map(({ K, A, B }) => ({ K, A: change(A), B: change(B) })),
    C: change(C),
    epilogue: epilogue && { ...epilogue, operands: epilogue.operands.map(change) },
  };
}

function matrix(name: string, { dtype, shape, strides }: TensorDesc, batch: readonly number[]): Matrix {
  const rank = shape.length;
  const missing = batch.length - (rank - 2);
  const batchStrides = batch.map((_, d) =>
    d < missing || shape[d - missing] === 1 ? 0 : strides[d - missing],
  );
  return { name, dtype, rowStride: strides[rank - 2], columnStride: strides[rank - 1], batchStrides };
}

const flipped = (matrix: Matrix): Matrix => ({
  ...matrix,
  rowStride: matrix.columnStride,
  columnStride: matrix.rowStride,
});

/** Cᵀ = Bᵀ·Aᵀ. */
export function transposed(problem: MatMulProblem): MatMulProblem {
  const { terms, ...rest } = withMatrices(problem, flipped);
  const swapped = terms.map(({ K, A, B }) => ({ K, A: B, B: A }));
  return { ...rest, M: problem.N, N: problem.M, terms: swapped };
}

const matricesOf = ({ terms, C, epilogue }: MatMulProblem): readonly Matrix[] => [
  ...terms.flatMap(({ A, B }) => [A, B]),
  C,
  ...(epilogue?.operands ?? []),
];

/**
 * Removes dimensions with one index, and joins adjacent dimensions through which every matrix can step with
 * one stride.
 */
function joinBatch(problem: MatMulProblem): MatMulProblem {
  const all = matricesOf(problem);
  const extents: number[] = [];
  /** The dimensions that have been used. */
  const taken: number[] = [];
  problem.batch.forEach((n, d) => {
    if (n === 1) return;
    const outer = taken.at(-1);
    if (outer !== undefined && all.every(({ batchStrides }) => batchStrides[outer] === n * batchStrides[d])) {
      extents[extents.length - 1] *= n;
      taken[taken.length - 1] = d;
    } else {
      extents.push(n);
      taken.push(d);
    }
  });
  const joined = withMatrices(problem, own => ({
    ...own,
    batchStrides: taken.map(d => own.batchStrides[d]),
  }));
  return { ...joined, batch: extents };
}

/**
 * Consecutive matrices that are multiplied by the same B become one tall matrix: a linear layer has no batch.
 */
function foldBatchIntoRows(problem: MatMulProblem): MatMulProblem {
  const { M, batch, terms } = problem;
  const last = batch.length - 1;
  const shared = new Set(terms.map(({ B }) => B));
  const fits = (own: Matrix): boolean => own.batchStrides[last] === (shared.has(own) ? 0 : M * own.rowStride);
  if (last < 0 || !matricesOf(problem).every(fits)) return problem;
  const outer = (own: Matrix): Matrix => ({ ...own, batchStrides: own.batchStrides.slice(0, -1) });
  return { ...withMatrices(problem, outer), M: M * batch[last], batch: batch.slice(0, -1) };
}
