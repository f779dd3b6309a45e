import { batchStrides } from '../../../primitive/host/lines/reader.ts';
import { collapseDimensions } from '../../../tensor/collapse-dimensions.ts';
import type { TensorDesc } from '../../../tensor/tensor.ts';

/** Where the matrices of an operand are stored; all strides in elements. */
export interface MatrixStrides {
  /** From one row of a matrix to the next, and from one column to the next. */
  readonly row: number;
  readonly column: number;
  /** Along the dimensions of the batch, 0 where the operand is broadcast. */
  readonly batch: readonly number[];
}

/** A batch of products: A (m × k) times B (k × n) is C (m × n). */
export interface MatrixBatch {
  readonly batch: readonly number[];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: MatrixStrides;
  readonly b: MatrixStrides;
  readonly c: MatrixStrides;
}

/**
 * The batch of products that a `matmul` computes. If all products share one B, and the rows of A and of C are
 * evenly spaced across the batch, they are the rows of a single product.
 */
export function matrixBatch([a, b]: readonly TensorDesc[], c: TensorDesc): MatrixBatch {
  const batch = c.shape.slice(0, -2);
  const [m, n] = c.shape.slice(-2);
  const [k] = a.shape.slice(-1);
  const stridesOf = (t: TensorDesc): MatrixStrides => {
    const [row, column] = t.strides.slice(-2);
    return { row, column, batch: batchStrides(t, batch) };
  };
  const products = { batch, m, n, k, a: stridesOf(a), b: stridesOf(b), c: stridesOf(c) };
  return asOneProduct(products) ?? products;
}

function asOneProduct({ batch, m, n, k, a, b, c }: MatrixBatch): MatrixBatch | null {
  if (b.batch.some((step, d) => step !== 0 && batch[d] !== 1)) return null;
  const rows = collapseDimensions(
    [...batch, m],
    [a, c].map(matrix => [...matrix.batch, matrix.row]),
  );
  if (rows.shape.length > 1) return null;
  const [[rowOfA], [rowOfC]] = rows.strides;
  const one = { batch: [], m: rows.shape[0], n, k };
  return {
    ...one,
    a: { ...a, row: rowOfA, batch: [] },
    b: { ...b, batch: [] },
    c: { ...c, row: rowOfC, batch: [] },
  };
}
