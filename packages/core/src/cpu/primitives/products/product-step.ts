import type { Kernels } from '../../kernels/interface/kernels.ts';
import { BLOCK, padded } from '../../kernels/interface/panel.ts';
import type { Step } from '../../steps/step.ts';
import { MAX_TASKS } from '../../team/control.ts';
import type { SharedFrom } from '../../team/sharing.ts';
import { taskKinds } from '../../team/tasks.ts';
import { type Blocks, divideProduct } from './divide-product.ts';
import type { MatrixLines } from './matrix-lines.ts';

/** A batch of products whose operands and results are in memory that all threads share. */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: MatrixLines;
  readonly b: MatrixLines;
  /** The address of the results, and the bytes between rows. */
  readonly c: { readonly at: number; readonly ld: number };
  /** The offset of each matrix of the batch, in elements. */
  readonly offsets: Readonly<Record<'a' | 'b' | 'c', readonly number[]>>;
}

/** In multiplications. */
const sharedFrom: SharedFrom = { awake: 2 ** 19, asleep: 2 ** 21 };

/**
 * A batch of products as a step. Each task packs columns of B for itself, since a thread would wait for what
 * another packs, and computes a block of C, with sums in the same order whatever the blocks.
 */
export function productStep(
  { memory }: Kernels,
  { m, n, k, a, b, c, offsets }: Product,
  { rowsAtOnce, isPacked }: { readonly rowsAtOnce: number; readonly isPacked: boolean },
): Step {
  const batch = offsets.c.length;
  const sharesB = new Set(offsets.b).size === 1;
  const steps = stepsOf(offsets);

  function tasksOf({ entries, height, width }: Blocks, threads: number): number[][] {
    const stripFloats = isPacked ? rowsAtOnce * k : 0;
    const scratchFloats = stripFloats + padded(width) * k + BLOCK;
    const scratch = memory.scratch(threads * scratchFloats).at;
    const rows: number[][] = [];
    for (let entry = 0; entry < batch; entry += entries) {
      const count = Math.min(entries, batch - entry);
      const [atA, atB, atC] = [offsets.a[entry], offsets.b[entry], offsets.c[entry]];
      // Tasks for the same rows follow each other. A thread then computes whole rows, which it often reads in
      // the next step.
      for (let i = 0; i < m; i += height) {
        const lines = Math.min(height, m - i);
        const fromA = a.isTransposed ? a.load(atA, 0, k, i, lines) : a.load(atA, i, lines, 0, k);
        for (let j = 0; j < n; j += width) {
          const columns = Math.min(width, n - j);
          const fromB = b.isTransposed ? b.load(atB, j, columns, 0, k) : b.load(atB, 0, k, j, columns);
          rows.push([
            ...[taskKinds.product, lines, columns, k, fromA, a.ld, Number(a.isTransposed)],
            ...[fromB, b.ld, Number(b.isTransposed), c.at + 4 * (atC + j) + i * c.ld, c.ld],
            ...[isPacked ? 1 : 0, rowsAtOnce, scratch, 4 * scratchFloats],
            ...[count, 4 * (steps?.a ?? 0), 4 * (steps?.b ?? 0), 4 * (steps?.c ?? 0)],
          ]);
        }
      }
    }
    return rows;
  }

  return {
    size: batch * m * n * k,
    sharedFrom,
    tasks(threads) {
      const shape = { batch: steps ? batch : 1, m, n, k, sharesB, packsA: isPacked };
      const blocks = divideProduct(shape, threads);
      const count =
        Math.ceil(batch / blocks.entries) * Math.ceil(m / blocks.height) * Math.ceil(n / blocks.width);
      return count > MAX_TASKS ? null : tasksOf(blocks, threads);
    },
  };
}

/** The elements from one matrix to the next; null if they differ within an operand. */
function stepsOf(offsets: Product['offsets']): Readonly<Record<'a' | 'b' | 'c', number>> | null {
  const [a, b, c] = [offsets.a, offsets.b, offsets.c].map(evenStep);
  return a === null || b === null || c === null ? null : { a, b, c };
}

function evenStep(offsets: readonly number[]): number | null {
  const step = offsets.length > 1 ? offsets[1] - offsets[0] : 0;
  return offsets.every((offset, n) => offset === offsets[0] + n * step) ? step : null;
}
