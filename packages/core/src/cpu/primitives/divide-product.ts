import { PANEL, padded, STRIP } from '../kernels/interface/panel.ts';

/** The extents of a batch of products, and whether all have one B. */
export interface ProductShape {
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly isOne: boolean;
}

/** The products of a task, and the rows and columns of C that the task computes. */
export interface Blocks {
  readonly entries: number;
  readonly height: number;
  readonly width: number;
}

/**
 * The most tasks per thread, so that threads end at about the same time, and the fewest multiplications of a
 * task if a thread gets more than one.
 */
const TASKS_EACH = 4;
const TASK_SIZE = 2 ** 18;
/** The most numbers of B that a task packs. */
const PACKED = 2 ** 20;
/** Columns that are computed as fast as more of them. */
const COLUMNS = 2 * PANEL;

/**
 * Divides products among threads. Every task packs its own rows of A and columns of B, so of all ways to
 * divide C, the one that packs least per multiplication is chosen.
 */
export function divideProduct({ batch, m, n, k, isOne }: ProductShape, threads: number): Blocks {
  const size = batch * m * n * k;
  const most = Math.max(COLUMNS, Math.floor(PACKED / k / COLUMNS) * COLUMNS);
  const each =
    threads === 1 ? 1 : Math.min(TASKS_EACH, Math.max(1, Math.floor(size / (threads * TASK_SIZE))));
  const wanted = each * threads;
  let best: Blocks = { entries: batch, height: m, width: padded(n) };
  let least = Infinity;
  for (let down = 1; down <= wanted; down++) {
    const blocks = blocksOf(down, Math.ceil(wanted / down));
    const rows = isOne ? blocks.entries * blocks.height : blocks.height;
    const packed = 1 / rows + 1 / blocks.width;
    // With a multiple of the threads, no thread waits for the last task of another.
    const rest = tasksOf(blocks) % threads === 0 ? 0 : 1;
    if (rest + packed >= least) continue;
    least = rest + packed;
    best = blocks;
  }
  return best;

  function blocksOf(down: number, across: number): Blocks {
    const apart = Math.min(batch, down);
    const within = Math.ceil(down / apart);
    const width = Math.min(most, Math.ceil(n / across / COLUMNS) * COLUMNS);
    return {
      entries: Math.ceil(batch / apart),
      height: Math.ceil(m / within / STRIP) * STRIP,
      width: Math.min(width, padded(n)),
    };
  }

  function tasksOf({ entries, height, width }: Blocks): number {
    return Math.ceil(batch / entries) * Math.ceil(m / height) * Math.ceil(n / width);
  }
}
