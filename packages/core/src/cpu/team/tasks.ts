import type { HeadKernels, HeadPass } from '../kernels/interface/head-kernels.ts';
import type { MatrixKernels } from '../kernels/interface/matrix-kernels.ts';
import type { Memory } from '../kernels/memory/memory.ts';
import type { CompiledLoop } from '../loops/link-loop.ts';

/**
 * The tasks of one step of a program. Each is a row of i32: the kind of task and its numbers. The first
 * `packing` tasks make what the others read.
 */
export interface TaskRows {
  readonly rows: readonly (readonly number[])[];
  readonly packing: number;
}

/** The tasks of one step in the memory of kernels. */
export interface TaskList {
  /** The address of the first task. */
  readonly at: number;
  readonly count: number;
  readonly packing: number;
}

/** The number of i32 per task. */
export const TASK_WORDS = 12;

/** Writes tasks to a memory, at the address that `allocate` returns for a number of i32. */
export function writeTasks(
  { rows, packing }: TaskRows,
  allocate: (words: number) => number,
  memory: Memory,
): TaskList {
  const at = allocate(rows.length * TASK_WORDS);
  rows.forEach((row, n) => {
    memory.i32.set(row, (at >>> 2) + n * TASK_WORDS);
  });
  return { at, count: rows.length, packing };
}

/** The kinds of tasks. */
export const taskKinds = {
  loop: 0,
  packRows: 1,
  packColumns: 2,
  multiply: 3,
  heads: 4,
  sumUpdates: 5,
  fill: 6,
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
    case taskKinds.packRows:
      matrices.packRows(n(0), n(1), n(2), n(3), n(4), n(5));
      return;
    case taskKinds.packColumns:
      matrices.packColumns(n(0), n(1), n(2), n(3), n(4));
      return;
    case taskKinds.heads:
      heads[headPasses[n(0)]](n(1), thread, n(2), n(3));
      return;
    case taskKinds.sumUpdates:
      matrices.sumUpdates(n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8));
      return;
    case taskKinds.fill:
      words.fill(n(0), n(1) >>> 2, (n(1) >>> 2) + n(2));
      return;
    default: {
      const strips = n(6);
      const own = strips + thread * n(7);
      if (strips !== 0) matrices.packStrips(n(0), n(2), n(3), n(4), n(5) !== 0, own);
      const [a, lda] = strips === 0 ? [n(3), n(4)] : [own, 0];
      matrices.multiplyPanels(n(0), n(1), n(2), a, lda, n(8), n(9), n(10));
    }
  }
}

/** Runs all tasks of a list on the calling thread. */
export function runAlone(words: Int32Array, { at, count }: TaskList, host: TaskHost): void {
  for (let n = 0; n < count; n++) runTask(words, (at >>> 2) + n * TASK_WORDS, 0, host);
}
