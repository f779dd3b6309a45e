import { elementCount, maxOffset, type TensorDesc } from '@tilewise/core';
import type { KernelParts } from '../../kernel/kernel-plan.ts';
import type { TensorReach } from '../../kernel/pieces.ts';
import { type MatMulProblem, type Matrix, matmulProblem } from './problem.ts';
import { productKernel } from './product.ts';
import { partialResults, sumPartsKernel } from './sum-parts.ts';
import { chooseTile } from './tile-table.ts';

/** What a matmul runs on: tensors that fit each other as `MatMulPrimitive` says, of float dtypes. */
export interface MatMulTensors {
  readonly a: TensorDesc;
  readonly b: TensorDesc;
  readonly c: TensorDesc;
  /** Those of `a`, `b`, `c` that do not start at a multiple of four elements. */
  readonly unaligned?: ReadonlySet<string>;
}

/**
 * The kernels of C = A·B over the last two dimensions, the leading ones broadcast, with any strides; they bind `a`, `b`, `c` and,
 * where the sum is cut into parts, `workspace`. Products are summed in f32, in an order that only the shapes decide.
 */
export function matmulKernels({ a, b, c, unaligned = new Set() }: MatMulTensors): KernelParts {
  const problem = matmulProblem(a, b, c);
  const { tile, parts } = chooseTile({ ...problem, count: elementCount(problem.batch) });
  const spans = { a: spanOf(a), b: spanOf(b), c: spanOf(c) };
  if (parts.count === 1) {
    return { kernels: [productKernel(problem, tile, parts, unaligned)], spans, reaches: reachesOf(problem) };
  }
  const partial = partialResults(problem, parts.count);
  return {
    kernels: [
      productKernel({ ...problem, C: partial }, tile, parts, unaligned),
      sumPartsKernel(problem, parts.count, unaligned),
    ],
    spans: { ...spans, workspace: elementCount(problem.batch) * parts.count * problem.M * partial.rowStride },
  };
}

const spanOf = ({ shape, strides }: TensorDesc): number =>
  shape.includes(0) ? 0 : maxOffset(shape, strides) + 1;

/** What workgroups touch of each tensor, so that large ones may be bound in pieces: rows of A and C, all of B. */
function reachesOf({ M, N, K, batch, A, B, C }: MatMulProblem): Record<string, TensorReach> {
  if (batch.length > 2) return {};
  const reach = (matrix: Matrix, rows: number, columns: number, side: 'q' | 'kv'): TensorReach => ({
    batches: { count: batch[0] ?? 1, stride: matrix.batchStrides[0] ?? 0 },
    heads: { count: batch[1] ?? 1, stride: matrix.batchStrides[1] ?? 0 },
    rows: { count: rows, stride: matrix.rowStride },
    side,
    inner: (columns - 1) * matrix.columnStride + 1,
  });
  return {
    [A.name]: reach(A, M, K, 'q'),
    [B.name]: reach(B, K, N, 'kv'),
    [C.name]: reach(C, M, N, 'q'),
  };
}
