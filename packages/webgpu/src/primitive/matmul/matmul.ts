import { elementCount } from '@tilewise/core';
import type { Footprint } from '@tilewise/core/engine';
import type { MatMulPrimitive } from '@tilewise/core/primitive';
import type { PrimitiveKernels, PrimitiveTensors } from '../access/primitive-tensors.ts';
import type { Matrix } from './operands/matrix.ts';
import { type MatMulProblem, matmulProblem, transposed } from './problem.ts';
import { hasAllRows, productKernel } from './product.ts';
import { partialResults, sumPartsKernel } from './sum-parts.ts';
import type { MatMulTileSelector } from './tiles/tile.ts';
import { sumParts, tileFor } from './tiles/tile-table.ts';

/**
 * The kernels of C = Σ A·B over the last two dimensions, with broadcast leading dimensions, any strides and
 * any float dtypes. Products are summed in f32, in an order that depends only on the shapes, the dtypes and
 * the device.
 * @param matmulTiles tiles that a context has loaded for its device.
 */
export function matmulKernels(
  primitive: MatMulPrimitive,
  { inputs, outputs, unaligned, capabilities }: PrimitiveTensors,
  matmulTiles?: MatMulTileSelector,
): PrimitiveKernels {
  const problem = matmulProblem(primitive, inputs, outputs[0]);
  const K = Math.max(...problem.terms.map(term => term.K));
  const size = { ...problem, K, count: elementCount(problem.batch) };
  const operands = problem.terms.flatMap(({ A, B }) => [A.dtype, B.dtype]);
  const table = tileFor(size, capabilities);
  const tile = matmulTiles?.(size, operands, capabilities, table) ?? table;
  const parts = sumParts(size, tile);
  if (parts.count === 1) {
    return {
      kernels: [productKernel(problem, tile, parts, unaligned)],
      footprints: footprintsOf(hasAllRows(problem, tile) ? transposed(problem) : problem),
    };
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
 * The elements of each tensor that workgroups touch, so that large tensors may be bound in parts: rows of A
 * and C, and all of B. If each tile has all rows, it is columns of B and C: rows of the transposed problem.
 */
function footprintsOf({ M, N, batch, terms, C, epilogue }: MatMulProblem): Record<string, Footprint> {
  if (batch.length > 2) return {};
  const footprint = (matrix: Matrix, rows: number, columns: number, side: 'q' | 'kv'): Footprint => ({
    batches: { count: batch[0] ?? 1, stride: matrix.batchStrides[0] ?? 0 },
    heads: { count: batch[1] ?? 1, stride: matrix.batchStrides[1] ?? 0 },
    rows: { count: rows, stride: matrix.rowStride },
    side,
    inner: (columns - 1) * matrix.columnStride + 1,
  });
  return Object.fromEntries([
    ...terms.flatMap(({ K, A, B }) => [
      [A.name, footprint(A, M, K, 'q')],
      [B.name, footprint(B, K, N, 'kv')],
    ]),
    ...[C, ...(epilogue?.operands ?? [])].map(own => [own.name, footprint(own, M, N, 'q')]),
  ]);
}
