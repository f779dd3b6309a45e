import type { DType } from '@tilewise/core';

/**
 * One of the matrices of a product, or one in each product of a batch: where it lies in its tensor, in
 * elements.
 */
export interface Matrix {
  /** The name of the tensor that holds the matrix. */
  readonly name: string;
  readonly dtype: DType;
  readonly rowStride: number;
  readonly columnStride: number;
  /** The stride from one matrix to the next along each batch dimension; 0 if all indices share one matrix. */
  readonly batchStrides: readonly number[];
}
