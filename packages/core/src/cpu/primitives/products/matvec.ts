import { broadcastStrides, forEachIndex, offsetOf } from '../../../primitive/host/lines/reader.ts';
import { elementCount } from '../../../tensor/shape.ts';
import type { Tensor, TensorDesc } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { LineProductKernels } from '../../kernels/interface/matrix-kernels.ts';
import { padded } from '../../kernels/interface/panel.ts';
import { createLoadLine } from '../../operands/load-line.ts';
import { createStoreRows } from '../../operands/row-store.ts';
import { createStoredLines, storageCodes } from '../../operands/stored-lines.ts';
import type { MatrixBatch } from './matrix-batch.ts';
import { PARTS } from './split-k.ts';

/** The maximum number of rows of A for which it is faster to read B sequentially than to pack it. */
const MAX_ROWS = 8;
/**
 * The minimum numbers of rows of B in a part, and of elements of B, so that adding parts takes little time.
 */
const MIN_PART = 32;
const MIN_MATRIX = 2 ** 16;
/** The addresses of a row of A and of its row of C. */
interface RowPair {
  readonly from: number;
  readonly to: number;
}

/**
 * Whether a product has few rows and a single B whose rows or columns are contiguous. Such a B is read once
 * and sequentially, at the speed of the memory.
 */
export function hasFewRows(b: TensorDesc, c: TensorDesc): boolean {
  const [bRow, bColumn] = b.strides.slice(-2);
  const sharesB = b.shape.slice(0, -2).every(extent => extent === 1);
  const rows = elementCount(c.shape.slice(0, -1));
  return sharesB && rows <= MAX_ROWS && (bRow === 1 || bColumn === 1) && storageCodes[b.dtype] !== undefined;
}

/**
 * How the sums of a product of few rows are divided into parts, each over `depth` rows of B, if the rows of B
 * are contiguous (split-K). Threads that compute different parts read different rows. Threads that compute
 * different columns read parts of the same rows, which takes two threads longer than one thread takes to read
 * whole rows.
 */
export function partsOfSums(
  { n, k }: Pick<MatrixBatch, 'n' | 'k'>,
  isTransposed: boolean,
): { readonly parts: number; readonly depth: number } {
  if (isTransposed || k < PARTS * MIN_PART || n * k < MIN_MATRIX) return { parts: 1, depth: k };
  // Kernels that read four rows at a time read the same four, in whatever pieces B is copied.
  const depth = Math.ceil(k / PARTS / 4) * 4;
  return { parts: Math.ceil(k / depth), depth };
}

/** C = A·B for few rows in total: A (…, M, K), B (K, N) and C (…, M, N); sums are computed in f32. */
export function runMatVec(
  kernels: Kernels,
  { multiplyLines, addLineProducts }: LineProductKernels,
  [a, b]: readonly Tensor[],
  c: Tensor,
): void {
  const { memory } = kernels;
  const [k, n] = b.shape.slice(-2);
  const [bRow, bColumn] = b.strides.slice(-2);
  const rows = rowPairs(a, c);
  const code = storageCodes[b.dtype] ?? 0;
  const ldx = 4 * padded(k);
  const x = memory.scratch(rows.length * padded(k) + 8).at;
  const isTransposed = bRow === 1 && bColumn !== 1;
  const { parts, depth } = partsOfSums({ n, k }, isTransposed);
  const ldc = 4 * padded(n);
  const size = rows.length * padded(n);
  const sums = memory.floats(parts * size);
  const load = createLoadLine(kernels, a, k);
  for (const [i, { from }] of rows.entries()) load(from, a.strides[a.strides.length - 1], k, x + i * ldx);

  const [count, width, distance] = isTransposed ? [n, k, bColumn] : [k, n, bRow];
  const lines = createStoredLines(kernels, b, { count, width, distance });
  const linesOfPart = parts === 1 ? count : depth;
  for (let part = 0; part < parts; part++) {
    const end = Math.min(count, (part + 1) * linesOfPart);
    const to = sums.at + 4 * part * size;
    for (let first = part * linesOfPart; first < end; first += lines.atOnce) {
      const some = Math.min(lines.atOnce, end - first);
      const w = lines.at(b.offset + first * distance, some);
      if (isTransposed) multiplyLines(code, rows.length, some, k, x, ldx, w, lines.ld, to + 4 * first, ldc);
      else addLineProducts(code, rows.length, n, some, x + 4 * first, ldx, w, lines.ld, to, ldc);
    }
  }
  if (parts > 1) {
    // The product of a row of ones with the other parts is added to the first part.
    const ones = memory.floats(parts - 1);
    ones.values.fill(1);
    addLineProducts(0, 1, size, parts - 1, ones.at, 0, sums.at + 4 * size, 4 * size, sums.at, 0);
  }

  const store = createStoreRows(kernels, c, padded(n));
  const step = c.strides[c.strides.length - 1];
  for (const [i, { to }] of rows.entries())
    store(sums.at + i * ldc, 1, n, padded(n), { at: to, rowStep: 0, step });
}

function rowPairs(a: Tensor, c: Tensor): RowPair[] {
  const shape = c.shape.slice(0, -1);
  const steps = broadcastStrides({ shape: a.shape.slice(0, -1), strides: a.strides }, shape);
  const pairs: RowPair[] = [];
  forEachIndex(shape, index => {
    pairs.push({ from: a.offset + offsetOf(index, steps), to: c.offset + offsetOf(index, c.strides) });
  });
  return pairs;
}
