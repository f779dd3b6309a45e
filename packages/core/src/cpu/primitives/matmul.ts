import { broadcastStrides, forEachIndex, offsetOf } from '../../primitive/host/reader.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { type Kernels, PANEL, PANEL_BYTES, padded, STRIP } from '../kernels/kernels.ts';
import { createLoadLine } from '../operands/load-line.ts';
import { createStoreRows } from '../operands/row-store.ts';

/** Rows of A that are worked on at once, so that B is read from far away but once for so many. */
const ROWS = 256;
/** Columns and depth of the block of B that stays in the innermost cache meanwhile. */
const COLUMNS = 64;
const DEPTH = 128;
/** Numbers of B that are held as panels at once, where it has more than `COLUMNS` columns. */
const HELD = 2 ** 22;
/** Lines of B that are packed at once. */
const LINES = 64;

/**
 * C = A·B by the kernels of attention: A (…, M, K), B (…, K, N) and C (…, M, N) of any strides, the leading
 * dimensions of A and B broadcast to those of C. Operands that lie transposed are read along their lines,
 * too. Sums are made in f32.
 */
export function runMatMul(kernels: Kernels, [a, b]: readonly Tensor[], c: Tensor): void {
  const { memory, addProduct, addTransposedProduct } = kernels;
  memory.reset();
  const [m, n] = c.shape.slice(-2);
  const k = a.shape[a.shape.length - 1];
  const batch = c.shape.slice(0, -2);
  const batchA = broadcastStrides({ ...a, shape: a.shape.slice(0, -2) }, batch);
  const batchB = broadcastStrides({ ...b, shape: b.shape.slice(0, -2) }, batch);
  const [aRow, aColumn] = a.strides.slice(-2);
  const [bRow, bColumn] = b.strides.slice(-2);
  const [cRow, cColumn] = c.strides.slice(-2);
  const rowsAtOnce = Math.min(ROWS, Math.ceil(m / STRIP) * STRIP);
  const columnsHeld = Math.min(
    padded(n),
    Math.max(COLUMNS, Math.floor(HELD / Math.max(k, 1) / COLUMNS) * COLUMNS),
  );

  const transposedA = aRow === 1 && aColumn !== 1;
  const ldA = 4 * (transposedA ? padded(rowsAtOnce) : padded(k));
  const rowsA = memory.scratch(padded(rowsAtOnce) * padded(k) + PANEL).at;
  const loadA = createLoadLine(kernels, a, Math.max(k, rowsAtOnce));

  const transposedB = bRow === 1 && bColumn !== 1;
  const ldB = 4 * (transposedB ? padded(k) : columnsHeld);
  const linesB = memory.scratch((LINES * ldB) / 4 + PANEL).at;
  const panelBytes = k * PANEL_BYTES;
  const panels = memory.scratch(columnsHeld * k).at;
  const loadB = createLoadLine(kernels, b, Math.max(k, columnsHeld));

  const sums = memory.floats(rowsAtOnce * COLUMNS);
  const store = createStoreRows(kernels, c, 64 * COLUMNS);

  function loadRows(from: number, i0: number, rows: number): void {
    if (transposedA) for (let d = 0; d < k; d++) loadA(from + i0 + d * aColumn, 1, rows, rowsA + d * ldA);
    else for (let i = 0; i < rows; i++) loadA(from + (i0 + i) * aRow, aColumn, k, rowsA + i * ldA);
  }

  function packColumns(from: number, j0: number, columns: number): void {
    if (transposedB) {
      for (let j = 0; j < columns; j += LINES) {
        const lines = Math.min(LINES, columns - j);
        for (let r = 0; r < lines; r++) loadB(from + (j0 + j + r) * bColumn, 1, k, linesB + r * ldB);
        kernels.packColumns(padded(lines), k, linesB, ldB, panels + (j / PANEL) * panelBytes);
      }
      return;
    }
    for (let d = 0; d < k; d += LINES) {
      const lines = Math.min(LINES, k - d);
      for (let r = 0; r < lines; r++)
        loadB(from + (d + r) * bRow + j0 * bColumn, bColumn, columns, linesB + r * ldB);
      kernels.packRows(lines, padded(columns), linesB, ldB, panels + d * PANEL_BYTES, panelBytes);
    }
  }

  function multiply(rows: number, j: number, columns: number): void {
    sums.values.fill(0);
    for (let d = 0; d < k; d += DEPTH) {
      const depth = Math.min(DEPTH, k - d);
      const at = panels + (j / PANEL) * panelBytes + d * PANEL_BYTES;
      const ldc = 4 * COLUMNS;
      if (transposedA) {
        addTransposedProduct(
          rows,
          columns,
          depth,
          rowsA + d * ldA,
          ldA,
          at,
          panelBytes,
          sums.at,
          ldc,
          0,
          0,
          false,
        );
      } else addProduct(rows, columns, depth, rowsA + 4 * d, ldA, at, panelBytes, sums.at, ldc, 0, 0, false);
    }
  }

  let packed = -1;
  forEachIndex(batch, index => {
    const fromA = a.offset + offsetOf(index, batchA);
    const fromB = b.offset + offsetOf(index, batchB);
    const to = c.offset + offsetOf(index, c.strides);
    for (let j0 = 0; j0 < n; j0 += columnsHeld) {
      const held = Math.min(columnsHeld, n - j0);
      // All of a B that several products share is packed once.
      if (packed !== fromB || held < n) packColumns(fromB, j0, held);
      packed = fromB;
      for (let i0 = 0; i0 < m; i0 += rowsAtOnce) {
        const rows = Math.min(rowsAtOnce, m - i0);
        loadRows(fromA, i0, rows);
        for (let j = 0; j < held; j += COLUMNS) {
          const columns = Math.min(COLUMNS, held - j);
          multiply(rows, j, columns);
          const at = to + i0 * cRow + (j0 + j) * cColumn;
          store(sums.at, rows, columns, COLUMNS, { at, rowStep: cRow, step: cColumn });
        }
      }
    }
  });
}
