import { PANEL, padded, STRIP } from '../../kernels/interface/panel.ts';

/** A batch of products. */
export interface ProductShape {
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Whether all products have one B. */
  readonly sharesB: boolean;
  /** Whether tasks pack their rows of A. */
  readonly packsA: boolean;
}

/** What a task computes: the number of products, and the rows and columns of C in each. */
export interface Blocks {
  readonly entries: number;
  readonly height: number;
  readonly width: number;
}

/** The maximum number of tasks per thread. */
const TASKS_EACH = 4;
/** How many multiplications take as long as packing a number, and as reading a number of A. */
const PACK_COST = 6;
const READ_COST = 2;
/** The columns of C for which the kernel reads rows of A once: `COLUMNS` of assembly/products/panels.ts. */
const COLUMNS_PER_READ = 64;
/** How much later the last thread ends than the others, as a fraction of a task. */
const IMBALANCE = 0.1;
/** The maximum number of elements of B that a task packs. */
const MAX_ELEMENTS_OF_B = 2 ** 20;
/** The least number of columns that are computed at full speed. */
const COLUMNS = 2 * PANEL;

/**
 * Divides products among threads so that the slowest thread takes the least time. Every task packs its own
 * rows of A and columns of B, so more tasks pack more, but fewer tasks are more uneven.
 */
export function divideProduct({ batch, m, n, k, sharesB, packsA }: ProductShape, threads: number): Blocks {
  const most = Math.max(COLUMNS, Math.floor(MAX_ELEMENTS_OF_B / k / COLUMNS) * COLUMNS);
  let best = blocksOf(1, 1);
  if (threads === 1) return best;
  let least = timeOf(best);
  for (let each = 1; each <= TASKS_EACH; each++) {
    for (let down = 1; down <= each * threads; down++) {
      const blocks = blocksOf(down, Math.ceil((each * threads) / down));
      const time = timeOf(blocks);
      if (time >= least) continue;
      least = time;
      best = blocks;
    }
  }
  return best;

  /** Blocks in about this many rows and columns. */
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

  /** The time of the slowest thread, in multiplications. */
  function timeOf({ entries, height, width }: Blocks): number {
    const tasks = Math.ceil(batch / entries) * Math.ceil(m / height) * Math.ceil(n / width);
    const columns = (sharesB ? 1 : entries) * width;
    const rows = entries * height;
    const moved =
      PACK_COST * (packsA ? columns + rows : columns) +
      READ_COST * rows * Math.ceil(width / COLUMNS_PER_READ);
    return (Math.ceil(tasks / threads) + IMBALANCE) * k * (rows * width + moved);
  }
}
