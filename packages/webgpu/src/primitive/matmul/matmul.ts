import { elementCount } from '@tilewise/core';
import type { MatMulPrimitive } from '@tilewise/core/primitive';
import type { TensorFootprint } from '../../codegen/dispatch-splits.ts';
import type { PrimitiveKernels, PrimitiveTensors } from '../primitive-kernels.ts';
import { type MatMulProblem, type Matrix, matmulProblem } from './problem.ts';
import { productKernel } from './product.ts';
import { partialResults, sumPartsKernel } from './sum-parts.ts';
import { chooseTile } from './tiles/tile-table.ts';

/**
 * The kernels of C = A·B over the last two dimensions, the leading ones broadcast, with any strides and of
 * any float dtypes. Products are summed in f32, in an order that only the shapes decide.
 */
export function matmulKernels(
  { result }: MatMulPrimitive,
  { inputs, outputs, unaligned, capabilities }: PrimitiveTensors,
): PrimitiveKernels {
  const problem = matmulProblem(inputs, outputs[0], result);
  const { tile, parts } = chooseTile({ ...problem, count: elementCount(problem.batch) }, capabilities);
  if (parts.count === 1) {
    return { kernels: [productKernel(problem, tile, parts, unaligned)], footprints: footprintsOf(problem) };
  }
  const partial = partialResults(problem, parts.count);
  return {
    kernels: [
      productKernel({ ...problem, C: partial, epilogue: null }, tile, parts, unaligned),
      sumPartsKernel(problem, parts.count, unaligned),
    ],
    workspace: { workspace: elementCount(problem.batch) * parts.count * problem.M * partial.rowStride },
  };
}

/**
 * The footprint of workgroups in each tensor, so that large tensors may be bound in pieces: rows of A and C,
 * all of B.
 */
function footprintsOf({ M, N, K, batch, A, B, C, epilogue }: MatMulProblem): Record<string, TensorFootprint> {
  if (batch.length > 2) return {};
  const footprint = (matrix: Matrix, rows: number, columns: number, side: 'q' | 'kv'): TensorFootprint => ({
    batches: { count: batch[0] ?? 1, stride: matrix.batchStrides[0] ?? 0 },
    heads: { count: batch[1] ?? 1, stride: matrix.batchStrides[1] ?? 0 },
    rows: { count: rows, stride: matrix.rowStride },
    side,
    inner: (columns - 1) * matrix.columnStride + 1,
  });
  return {
    [A.name]: footprint(A, M, K, 'q'),
    [B.name]: footprint(B, K, N, 'kv'),
    [C.name]: footprint(C, M, N, 'q'),
    ...Object.fromEntries(epilogue?.operands.map(own => [own.name, footprint(own, M, N, 'q')]) ?? []),
  };
}
