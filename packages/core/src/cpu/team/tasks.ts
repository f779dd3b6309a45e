import type { HeadKernels, HeadPass } from '../kernels/interface/head-kernels.ts';
import type { MatrixKernels } from '../kernels/interface/matrix-kernels.ts';
import { PANEL_BYTES, padded } from '../kernels/interface/panel.ts';
import type { AllocateWords, Memory } from '../kernels/memory/memory.ts';
import type { CompiledLoop } from '../loops/link-loop.ts';

/** The tasks of one step of a program. Each is a row of i32: the kind of task and its numbers. */
export type TaskRows = readonly (readonly number[])[];

/** The tasks of one step in the memory of kernels. */
export interface TaskList {
  /** The address of the first task. */
  readonly at: number;
  readonly count: number;
}

/** The number of i32 per task. */
export const TASK_WORDS = 20;

/** Writes tasks to a memory, at the address that `allocate` returns for a number of i32. */
export function writeTasks(rows: TaskRows, allocate: AllocateWords, memory: Memory): TaskList {
  const at = allocate(rows.length * TASK_WORDS);
  rows.forEach((row, n) => {
    memory.i32.set(row, (at >>> 2) + n * TASK_WORDS);
  });
  return { at, count: rows.length };
}

/** The kinds of tasks. */
export const taskKinds = {
  loop: 0,
  product: 1,
  heads: 2,
  sumUpdates: 3,
  listUpdates: 4,
  fill: 5,
  draw: 6,
  matVec: 7,
} as const;

/** The passes over small heads, by their number in tasks. */
export const headPasses: readonly HeadPass[] = ['forwardHeads', 'backwardHeads'];

/** The functions that tasks call, linked to the memory that all threads share. */
export interface TaskHost {
  readonly matrices: MatrixKernels;
  readonly heads: HeadKernels;
  loop(id: number): CompiledLoop;
}

/** Runs the task at a word index of the memory, on the thread with a given number. */
export function runTask(
  words: Int32Array,
  at: number,
  thread: number,
  { matrices, heads, loop }: TaskHost,
): void {
  const n = (index: number): number => words[at + 1 + index];
  switch (words[at]) {
    case taskKinds.loop: {
      const run = loop(n(0));
      for (let block = 0; block < n(2); block++) run(n(1) + block * n(3));
      return;
    }
    case taskKinds.product:
      runProduct(words, at + 1, thread, matrices);
      return;
    case taskKinds.heads:
      heads[headPasses[n(0)]](n(1), thread, n(2), n(3));
      return;
    case taskKinds.sumUpdates:
      matrices.sumUpdates(n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8));
      return;
    case taskKinds.listUpdates:
      matrices.listUpdates(n(0), n(1), n(2), n(3), n(4));
      return;
    case taskKinds.draw:
      matrices.drawBernoulli(n(0), n(1), n(2), n(3), n(4), n(5));
      return;
    case taskKinds.matVec:
      runMatVec(words, at + 1, matrices);
      return;
    default:
      words.fill(n(0), n(1) >>> 2, (n(1) >>> 2) + n(2));
  }
}

/** Computes a block of the products of a batch, with the numbers from a word index on. */
function runProduct(
  words: Int32Array,
  at: number,
  thread: number,
  { packRows, packColumns, packStrips, multiplyPanels }: MatrixKernels,
): void {
  const [m, n, k] = [words[at], words[at + 1], words[at + 2]];
  const [a, lda, isTransposed] = [words[at + 3], words[at + 4], words[at + 5] !== 0];
  const [b, ldb, isColumns] = [words[at + 6], words[at + 7], words[at + 8] !== 0];
  const [c, ldc] = [words[at + 9], words[at + 10]];
  const [isPacked, rowsAtOnce] = [words[at + 11] !== 0, words[at + 12]];
  const strips = words[at + 13] + thread * words[at + 14];
  const panels = isPacked ? strips + 4 * rowsAtOnce * k : strips;
  const [count, stepA, stepB, stepC] = [words[at + 15], words[at + 16], words[at + 17], words[at + 18]];
  for (let entry = 0; entry < count; entry++) {
    const from = b + entry * stepB;
    // A B that all products have is packed once.
    const packs = entry === 0 || stepB !== 0;
    if (packs && isColumns) packColumns(padded(n), k, from, ldb, panels);
    else if (packs) packRows(k, padded(n), from, ldb, panels, k * PANEL_BYTES);
    for (let i = 0; i < m; i += rowsAtOnce) {
      const rows = Math.min(rowsAtOnce, m - i);
      const lines = a + entry * stepA + i * (isTransposed ? 4 : lda);
      const to = c + entry * stepC + i * ldc;
      if (isPacked) packStrips(rows, k, lines, lda, isTransposed, strips);
      multiplyPanels(rows, n, k, isPacked ? strips : lines, isPacked ? 0 : lda, panels, to, ldc);
    }
  }
}

/** Computes some columns of a product of few rows, with the numbers from a word index on. */
function runMatVec(words: Int32Array, at: number, { multiplyLines, addLineProducts }: MatrixKernels): void {
  const [isTransposed, dtype] = [words[at] !== 0, words[at + 1]];
  const [m, n, k] = [words[at + 2], words[at + 3], words[at + 4]];
  const [x, ldx, lines, ld] = [words[at + 5], words[at + 6], words[at + 7], words[at + 8]];
  const [to, ldTo] = [words[at + 9], words[at + 10]];
  if (isTransposed) multiplyLines(dtype, m, n, k, x, ldx, lines, ld, to, ldTo);
  else {
    for (let i = 0; i < m; i++) words.fill(0, (to + i * ldTo) >>> 2, ((to + i * ldTo) >>> 2) + n);
    addLineProducts(dtype, m, n, k, x, ldx, lines, ld, to, ldTo);
  }
}

/** Runs all tasks of a list on the calling thread. */
export function runAlone(words: Int32Array, { at, count }: TaskList, host: TaskHost): void {
  for (let n = 0; n < count; n++) runTask(words, (at >>> 2) + n * TASK_WORDS, 0, host);
}
