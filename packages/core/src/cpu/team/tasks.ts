import type { HeadKernels, HeadPass } from '../kernels/interface/head-kernels.ts';
import type { MatrixKernels } from '../kernels/interface/matrix-kernels.ts';
import type { CompiledLoop } from '../loops/link-loop.ts';

/**
 * The tasks of one step of a program. Each is a row of i32: the kind of task and its numbers. The first
 * `packing` tasks make what the others read.
 */
export interface SharedTasks {
  readonly rows: readonly (readonly number[])[];
  readonly packing: number;
  /** Whether the step is long enough to wake workers that sleep. */
  readonly wakes: boolean;
}

/** The number of i32 per task. */
export const TASK_WORDS = 12;

/** The kinds of tasks. */
export const taskKinds = {
  loop: 0,
  packRows: 1,
  packColumns: 2,
  multiply: 3,
  heads: 4,
  sumUpdates: 5,
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
    default: {
      const numbers = words.subarray(at + 1, at + TASK_WORDS);
      const [m, width, k, a, lda, isTransposed, strips, stripBytes, panels, c, ldc] = numbers;
      const own = strips + thread * stripBytes;
      if (strips) matrices.packStrips(m, k, a, lda, isTransposed !== 0, own);
      matrices.multiplyPanels(m, width, k, strips ? own : a, strips ? 0 : lda, panels, c, ldc);
    }
  }
}
