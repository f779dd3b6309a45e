import type { DType, TensorDesc } from '@tilewise/core';
import { inputName } from '@tilewise/core/primitive';
import { outputName } from '../primitive-kernels.ts';

/**
 * One of the three matrices of a product, or of each of many: so many rows and columns, so many elements
 * apart.
 */
export interface Matrix {
  /** The name of the tensor that holds the matrix. */
  readonly name: string;
  readonly dtype: DType;
  readonly rowStride: number;
  readonly columnStride: number;
  /** Elements from one matrix to the next along each batch dimension; 0 where the same one serves all. */
  readonly batchStrides: readonly number[];
}

/**
 * C (M × N) = A (M × K) · B (K × N), once for each index of `batch`; which of the tensors is A is the names'
 * to say.
 */
export interface MatMulProblem {
  readonly M: number;
  readonly N: number;
  readonly K: number;
  readonly batch: readonly number[];
  readonly A: Matrix;
  readonly B: Matrix;
  readonly C: Matrix;
}

/**
 * The problem of three tensors that fit: dimensions that can be walked as one are one, and a C whose columns
 * lie together is computed as Cᵀ = Bᵀ·Aᵀ, so that rows of results lie together wherever they can.
 */
export function matmulProblem([a, b]: readonly TensorDesc[], c: TensorDesc): MatMulProblem {
  const batch = c.shape.slice(0, -2);
  const [M, N] = c.shape.slice(-2);
  const K = a.shape[a.shape.length - 1];
  const problem: MatMulProblem = {
    ...{ M, N, K, batch },
    ...{
      A: matrix(inputName(0), a, batch),
      B: matrix(inputName(1), b, batch),
      C: matrix(outputName(0), c, batch),
    },
  };
  const rowsLieTogether = c.strides[c.strides.length - 1] === 1 || c.strides[c.strides.length - 2] !== 1;
  return foldBatchIntoRows(joinBatch(rowsLieTogether ? problem : transposed(problem)));
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

function transposed({ M, N, A, B, C, ...rest }: MatMulProblem): MatMulProblem {
  return { ...rest, M: N, N: M, A: flipped(B), B: flipped(A), C: flipped(C) };
}

/**
 * Leaves out dimensions of one index, and makes one of neighbours that every matrix walks through in even
 * steps.
 */
function joinBatch(problem: MatMulProblem): MatMulProblem {
  const all = [problem.A, problem.B, problem.C];
  const extents: number[] = [];
  const steps: number[][] = [];
  problem.batch.forEach((n, d) => {
    if (n === 1) return;
    const step = all.map(({ batchStrides }) => batchStrides[d]);
    const outer = steps.at(-1);
    if (outer?.every((stride, m) => stride === n * step[m])) {
      extents[extents.length - 1] *= n;
      steps[steps.length - 1] = step;
    } else {
      extents.push(n);
      steps.push(step);
    }
  });
  const [A, B, C] = all.map((matrix, m) => ({ ...matrix, batchStrides: steps.map(step => step[m]) }));
  return { ...problem, batch: extents, A, B, C };
}

/** Matrices below each other that meet the same B are one tall matrix: a linear layer has no batch. */
function foldBatchIntoRows(problem: MatMulProblem): MatMulProblem {
  const { M, batch, A, B, C } = problem;
  const last = batch.length - 1;
  const follows = ({ batchStrides, rowStride }: Matrix): boolean => batchStrides[last] === M * rowStride;
  if (last < 0 || B.batchStrides[last] !== 0 || !follows(A) || !follows(C)) return problem;
  const outer = (matrix: Matrix): Matrix => ({ ...matrix, batchStrides: matrix.batchStrides.slice(0, -1) });
  const rows = M * batch[last];
  return { ...problem, M: rows, batch: batch.slice(0, -1), A: outer(A), B: outer(B), C: outer(C) };
}
