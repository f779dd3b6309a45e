import type { MatrixKernels } from '../kernels/interface/matrix-kernels.ts';
import type { CompiledLoop } from '../loops/link-loop.ts';

/**
 * The tasks of one step of a program, which threads claim in order. Each is a row of i32: the kind of task
 * and its numbers. The first `packing` tasks make what the others read.
 */
export interface SharedTasks {
  readonly rows: readonly (readonly number[])[];
  readonly packing: number;
}

/** The number of i32 per task. */
export const TASK_WORDS = 12;

/** The kinds of tasks. */
export const taskKinds = { loop: 0, packRows: 1, packColumns: 2, multiply: 3 } as const;

/** The functions that tasks call, linked to the memory that all threads share. */
export interface TaskHost {
  readonly matrices: MatrixKernels;
  loop(id: number): CompiledLoop;
}

/** Runs the task at a word index of the memory, on the thread with a given number. */
export function runTask(words: Int32Array, at: number, thread: number, { matrices, loop }: TaskHost): void {
  const [kind, ...n] = words.subarray(at, at + TASK_WORDS);
  if (kind === taskKinds.loop) {
    const [id, numbers, count, bytes] = n;
    const run = loop(id);
    for (let block = 0; block < count; block++) run(numbers + block * bytes);
  } else if (kind === taskKinds.packRows) matrices.packRows(n[0], n[1], n[2], n[3], n[4], n[5]);
  else if (kind === taskKinds.packColumns) matrices.packColumns(n[0], n[1], n[2], n[3], n[4]);
  else {
    const [m, width, k, a, ld, transposed, strips, stripBytes, panels, c, ldc] = n;
    const own = strips + thread * stripBytes;
    matrices.packStrips(m, k, a, ld, transposed !== 0, own);
    matrices.multiplyPanels(m, width, k, own, 0, panels, c, ldc);
  }
}
