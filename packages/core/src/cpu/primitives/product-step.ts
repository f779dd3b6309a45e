import type { Kernels } from '../kernels/interface/kernels.ts';
import { PANEL, PANEL_BYTES, padded, STRIP } from '../kernels/interface/panel.ts';
import type { Step } from '../steps/step.ts';
import { MOST_TASKS } from '../team/control.ts';
import type { Worth } from '../team/sharing.ts';
import { taskKinds } from '../team/tasks.ts';
import type { MatrixLines } from './matrix-lines.ts';

/** A product whose operands and result are in memory that all threads share. */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: MatrixLines;
  readonly b: MatrixLines;
  /** The address of the result, and the bytes between its rows, which fill whole panels. */
  readonly c: { readonly at: number; readonly ld: number };
}

/** Where the matrices of a batch start, in elements; for B, its strides along the batch. */
export interface BatchPlaces {
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly c: readonly number[];
}

/** In multiplications. */
const worth: Worth = { awake: 3 * 2 ** 18, asleep: 2 ** 21 };
/**
 * The most tasks per thread, so that threads end at about the same time, and the fewest multiplications of a
 * task if a thread gets more than one.
 */
const TASKS_EACH = 4;
const TASK_SIZE = 2 ** 20;
/**
 * The columns that a task packs, and the fewest that it multiplies, because rows of A are packed for each
 * task.
 */
const COLUMNS = 64;
const FEWEST_COLUMNS = 256;

/**
 * A product as a step: each thread packs columns of B, and then computes its own blocks of C, with sums in
 * the same order as on one thread. It has no tasks if there are several B.
 */
export function productStep(
  { memory }: Kernels,
  { m, n, k, a, b, c }: Product,
  places: BatchPlaces,
  { rowsAtOnce, isPacked }: { readonly rowsAtOnce: number; readonly isPacked: boolean },
): Step {
  const batch = places.c.length;
  const isOne = places.b.every(step => step === 0) || batch === 1;
  const size = batch * m * n * k;

  /** The rows and columns of C that a task computes. */
  function blockOf(threads: number): readonly [height: number, width: number] {
    if (threads === 1) return [rowsAtOnce, padded(n)];
    const each = Math.min(TASKS_EACH, Math.max(1, Math.floor(size / (threads * TASK_SIZE))));
    const wanted = each * threads;
    const across = Math.ceil(wanted / (Math.ceil(m / rowsAtOnce) * batch));
    const width = Math.max(FEWEST_COLUMNS, Math.ceil(n / across / COLUMNS) * COLUMNS);
    const beside = batch * Math.ceil(n / width);
    let down = Math.max(Math.ceil(wanted / beside), Math.ceil(m / rowsAtOnce));
    // With a multiple of the threads, no thread waits for the last task of another.
    while ((down * beside) % threads !== 0) down++;
    return [Math.min(rowsAtOnce, Math.ceil(m / down / STRIP) * STRIP), width];
  }

  return {
    size,
    worth,
    tasks(threads) {
      const [height, width] = blockOf(threads);
      const count = Math.ceil(n / COLUMNS) + batch * Math.ceil(m / height) * Math.ceil(n / width);
      if (!isOne || count > MOST_TASKS) return null;
      const stripBytes = 4 * rowsAtOnce * k;
      const strips = isPacked ? memory.scratch(threads * rowsAtOnce * k).at : 0;
      const panels = memory.scratch(padded(n) * k).at;

      const rows: number[][] = [];
      for (let j = 0; j < n; j += COLUMNS) {
        const columns = Math.min(COLUMNS, n - j);
        const to = panels + (j / PANEL) * k * PANEL_BYTES;
        if (b.isTransposed) {
          rows.push([taskKinds.packColumns, columns, k, b.load(0, j, columns, 0, k), b.ld, to]);
        } else {
          rows.push([
            ...[taskKinds.packRows, k, columns, b.load(0, 0, k, j, columns), b.ld],
            ...[to, k * PANEL_BYTES],
          ]);
        }
      }
      const packing = rows.length;

      for (const [index, offset] of places.c.entries()) {
        for (let i = 0; i < m; i += height) {
          const lines = Math.min(height, m - i);
          const from = places.a[index];
          const at = a.isTransposed ? a.load(from, 0, k, i, lines) : a.load(from, i, lines, 0, k);
          for (let j = 0; j < n; j += width) {
            const to = panels + (j / PANEL) * k * PANEL_BYTES;
            const target = c.at + 4 * (offset + j) + i * c.ld;
            rows.push([
              ...[taskKinds.multiply, lines, Math.min(width, n - j), k, at, a.ld, Number(a.isTransposed)],
              ...[strips, stripBytes, to, target, c.ld],
            ]);
          }
        }
      }
      return { rows, packing };
    },
  };
}
