import { forEachIndex, offsetOf } from '../../../primitive/host/lines/reader.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { MatrixKernels } from '../../kernels/interface/matrix-kernels.ts';
import type { LoopHost } from '../../kernels/interface/module-host.ts';
import { BLOCK, PANEL_BYTES, padded, STRIP } from '../../kernels/interface/panel.ts';
import { writable } from '../../operands/resident.ts';
import { createStoreRows } from '../../operands/row-store.ts';
import { shareStep } from '../../steps/share-step.ts';
import type { Step } from '../../steps/step.ts';
import type { Team } from '../../team/team.ts';
import type { MatrixBatch } from './matrix-batch.ts';
import { createMatrixLines, type MatrixLines } from './matrix-lines.ts';
import { productStep } from './product-step.ts';

/**
 * The maximum numbers of rows and of elements of A that are processed at once; more do not stay in a
 * second-level cache.
 */
const MAX_ROWS_OF_A = 256;
const MAX_ELEMENTS_OF_A = 2 ** 17;
/**
 * The maximum number of elements of B that are stored as panels at once, if B has more than `COLUMNS`
 * columns.
 */
const MAX_ELEMENTS_OF_B = 2 ** 22;
const COLUMNS = 64;
/** The number of columns from which strips of A save more time than packing them takes. */
const STRIPS_FROM = 256;
/** The columns whose results are rounded at once if C is not written in place. */
const COLUMNS_ROUNDED = 2 ** 12;

/** A batch of products with its operands, and how it is divided. */
export interface PlacedProduct {
  readonly batch: MatrixBatch;
  /** The tensor that rows of C are rounded to; null if the kernels write C in place. */
  readonly target: Tensor | null;
  /** The address of C, or of scratch memory for some rows of C. */
  readonly at: number;
  readonly rowsOfA: MatrixLines;
  readonly linesOfB: MatrixLines;
  /** The rows of A that are processed at once, and the columns of B that are stored as panels. */
  readonly rowsAtOnce: number;
  readonly columnsHeld: number;
  /** Whether rows of A are packed as strips. */
  readonly isPacked: boolean;
}

/**
 * Places a batch of products on kernels, in scratch memory where an operand or C is not used in place.
 * @param c the tensor, or the address of f32 with the strides of the batch. If C is a tensor and `target` is
 * null, the caller copies C to it by `copyBack`.
 */
export function placeProduct(
  kernels: Kernels,
  host: LoopHost,
  batch: MatrixBatch,
  [a, b]: readonly Tensor[],
  c: Tensor | number,
): PlacedProduct {
  const { m, n, k } = batch;
  const { memory } = kernels;
  const target = typeof c === 'number' || (c.dtype === 'f32' && batch.c.column === 1) ? null : c;
  const most = Math.max(COLUMNS, Math.floor(MAX_ELEMENTS_OF_A / k / COLUMNS) * COLUMNS);
  const rowsAtOnce = Math.min(MAX_ROWS_OF_A, most, Math.ceil(m / STRIP) * STRIP);
  const fitting = Math.floor(MAX_ELEMENTS_OF_B / Math.max(k, target ? rowsAtOnce : 1) / COLUMNS) * COLUMNS;
  const columnsHeld = Math.min(padded(n), Math.max(COLUMNS, fitting));
  const rowsOfA = createMatrixLines(kernels, host, a, batch.a, rowsAtOnce, k);
  const linesOfB = createMatrixLines(kernels, host, b, batch.b, k, columnsHeld);
  // The rows of an operand that is one row, broadcast, are 0 bytes apart, by which kernels recognise strips.
  const isPacked = rowsOfA.isTransposed || n >= STRIPS_FROM || rowsOfA.ld === 0;
  const written = (): number => (typeof c === 'number' ? c : writable(memory, c));
  const at = target ? memory.scratch(rowsAtOnce * columnsHeld).at : written();
  return { batch, target, at, rowsOfA, linesOfB, rowsAtOnce, columnsHeld, isPacked };
}

/** A batch of products as a step; null if an operand or C is not used in place. */
export function stepOfProduct(kernels: Kernels, placed: PlacedProduct): Step | null {
  const { batch, at, target, rowsOfA, linesOfB } = placed;
  const { m, n, k } = batch;
  if (target || !rowsOfA.isInPlace || !linesOfB.isInPlace) return null;
  const offsets = {
    a: matrixOffsets(batch.batch, batch.a.batch),
    b: matrixOffsets(batch.batch, batch.b.batch),
    c: matrixOffsets(batch.batch, batch.c.batch),
  };
  const product = { m, n, k, a: rowsOfA, b: linesOfB, c: { at, ld: 4 * batch.c.row }, offsets };
  return productStep(kernels, product, placed);
}

/** Computes a batch of products, on the threads of a team if it is large enough. */
export function runProduct(
  kernels: Kernels,
  { packStrips, multiplyPanels }: MatrixKernels,
  placed: PlacedProduct,
  team: Team | null,
): void {
  const { batch: product, target, at, rowsOfA, linesOfB, rowsAtOnce, columnsHeld, isPacked } = placed;
  const { batch, m, n, k, ...strides } = product;
  const { row: cRow, column: cColumn } = strides.c;
  const { isTransposed } = rowsOfA;
  const { memory } = kernels;
  const step = team && stepOfProduct(kernels, placed);
  if (team && step && shareStep(kernels, step, team)) return;
  const panelBytes = k * PANEL_BYTES;
  const panels = memory.scratch(columnsHeld * k + BLOCK).at;
  const strips = isPacked ? memory.scratch(rowsAtOnce * k).at : null;
  const ldC = 4 * (target ? columnsHeld : cRow);
  const store = target && createStoreRows(kernels, target, Math.max(COLUMNS_ROUNDED, columnsHeld));

  function pack(offset: number, j0: number, columns: number): void {
    if (linesOfB.isTransposed) {
      const lines = linesOfB.load(offset, j0, columns, 0, k);
      kernels.packColumns(padded(columns), k, lines, linesOfB.ld, panels);
    } else {
      const lines = linesOfB.load(offset, 0, k, j0, columns);
      kernels.packRows(k, padded(columns), lines, linesOfB.ld, panels, panelBytes);
    }
  }

  function multiply(offset: number, i0: number, rows: number, columns: number, to: number): void {
    const from = isTransposed ? rowsOfA.load(offset, 0, k, i0, rows) : rowsOfA.load(offset, i0, rows, 0, k);
    const out = target ? at : at + 4 * to;
    if (strips !== null) packStrips(rows, k, from, rowsOfA.ld, isTransposed, strips);
    const [a, lda] = strips === null ? [from, rowsOfA.ld] : [strips, 0];
    multiplyPanels(rows, columns, k, a, lda, panels, out, ldC);
    const rowsOfC = { at: (target?.offset ?? 0) + to, rowStep: cRow, step: cColumn };
    store?.(at, rows, columns, columnsHeld, rowsOfC);
  }

  let packed = -1;
  forEachIndex(batch, index => {
    const offsetB = offsetOf(index, strides.b.batch);
    for (let j0 = 0; j0 < n; j0 += columnsHeld) {
      const columns = Math.min(columnsHeld, n - j0);
      // If several products share a B, all of it is packed only once.
      if (packed !== offsetB || columns < n) pack(offsetB, j0, columns);
      packed = offsetB;
      for (let i0 = 0; i0 < m; i0 += rowsAtOnce) {
        const to = offsetOf(index, strides.c.batch) + i0 * cRow + j0 * cColumn;
        multiply(offsetOf(index, strides.a.batch), i0, Math.min(rowsAtOnce, m - i0), columns, to);
      }
    }
  });
}

/** The offset of each matrix of a batch, in elements. */
function matrixOffsets(batch: readonly number[], steps: readonly number[]): number[] {
  const offsets: number[] = [];
  forEachIndex(batch, index => {
    offsets.push(offsetOf(index, steps));
  });
  return offsets;
}
