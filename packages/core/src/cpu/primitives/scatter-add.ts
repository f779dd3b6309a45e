import { input } from '../../primitive/element.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import type { ScatterKernels } from '../kernels/interface/matrix-kernels.ts';
import { linkedLoops } from '../loops/compiled-loop.ts';
import { formatOf } from '../loops/format.ts';
import { type LoopPlan, loopInputs, planLoop } from '../loops/plan/plan-loop.ts';
import { runLoop } from '../loops/run/run-loop.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import { createStoreRows } from '../operands/row-store.ts';
import { taskKinds } from '../team/tasks.ts';
import type { Team } from '../team/team.ts';
import { createMatrixLines } from './matrix-lines.ts';
import type { RunOnKernels } from './run-on-kernels.ts';

/** The numbers of results that are computed at once if the output is not written in place. */
const STORED = 2 ** 16;
/**
 * The elements of updates below which sharing takes longer than it saves: if workers are awake, and if they
 * must be woken.
 */
const WORTH_SHARING = 2 ** 17;
const WORTH_WAKING = 2 ** 19;
/** The most tasks per thread, so that threads end at about the same time. */
const TASKS_EACH = 4;

/**
 * Prepares a scatter-add: updates are listed by the row that they are added to, and each row of the output is
 * summed in f64, in the order of its updates, and rounded to f32 and to the output's dtype. Null if only the
 * host can run it: indices in u32, updates whose rows are not contiguous but whose columns are, and empty
 * tensors.
 */
export function prepareScatterAdd(
  [indices, updates]: readonly TensorDesc[],
  output: TensorDesc,
): RunOnKernels | null {
  const [rows, width] = output.shape;
  const [count] = indices.shape;
  const isTransposed = updates.strides[0] === 1 && updates.strides[1] !== 1;
  const format = formatOf(indices.dtype);
  if (rows * width * count === 0 || isTransposed || !format) return null;
  const dense: LoopPlan | null = planLoop(input(0, 'i32'), loopInputs([indices]), [count], {
    ...{ kind: 'store', format: 'i32', strides: [1] },
  });
  if (!dense) return null;
  const link = linkedLoops([dense]);
  const isDirect = output.dtype === 'f32' && output.strides[1] === 1;

  return (kernels, [from, values], [to], team) => {
    const { memory, matrices } = kernels;
    const loops = link(kernels.loops);
    if (!loops || !kernels.loops || !matrices) return false;
    memory.reset();
    const at = memory.scratch(count).at;
    runLoop(dense, loops[0], kernels, at, [readable(memory, from)]);
    const strides = { row: updates.strides[0], column: updates.strides[1], batch: [] };
    const lines = createMatrixLines(kernels, kernels.loops, values, strides, count, width);
    const lists = { first: memory.scratch(rows).at, next: memory.scratch(count).at };
    matrices.listUpdates(count, rows, at, lists.first, lists.next);
    const source = { ...lists, updates: lines.load(0, 0, count, 0, width), ld: lines.ld };
    if (isDirect) {
      const result = writable(memory, to);
      const sums = { ...source, width, output: result, ldOutput: 4 * output.strides[0] };
      sumRows(kernels, sums, rows, count * width, team);
      copyBack(memory, to, result);
    } else storeSums(kernels, matrices, { ...source, width }, rows, to);
    return true;
  };
}

/** The updates by row of the output, as `sumUpdates` takes them. */
interface Updates {
  readonly width: number;
  readonly first: number;
  readonly next: number;
  readonly updates: number;
  readonly ld: number;
}

/** Sums all rows in place, on the threads of a team if there are many updates. */
function sumRows(
  kernels: Kernels,
  {
    width,
    first,
    next,
    updates,
    ld,
    output,
    ldOutput,
  }: Updates & Readonly<Record<'output' | 'ldOutput', number>>,
  rows: number,
  size: number,
  team: Team | null,
): void {
  const wakes = size >= WORTH_WAKING;
  const isWorth = team && (wakes || (size >= WORTH_SHARING && team.isAwake));
  const threads = isWorth ? team.threads : 1;
  if (!team || threads === 1) {
    kernels.matrices?.sumUpdates(0, rows, width, first, next, updates, ld, output, ldOutput);
    return;
  }
  const each = Math.ceil(rows / (threads * TASKS_EACH));
  const tasks: number[][] = [];
  for (let from = 0; from < rows; from += each) {
    const to = Math.min(from + each, rows);
    tasks.push([taskKinds.sumUpdates, from, to, width, first, next, updates, ld, output, ldOutput]);
  }
  team.run(kernels, { rows: tasks, packing: 0, wakes });
}

/** Sums some rows at a time, and rounds them to the dtype of a tensor. */
function storeSums(
  kernels: Kernels,
  { sumUpdates }: ScatterKernels,
  { width, first, next, updates, ld }: Updates,
  rows: number,
  to: Tensor,
): void {
  const atOnce = Math.max(1, Math.floor(STORED / width));
  const sums = kernels.memory.scratch(atOnce * width).at;
  const store = createStoreRows(kernels, to, atOnce * width);
  const [rowStep, step] = to.strides;
  for (let row = 0; row < rows; row += atOnce) {
    const count = Math.min(atOnce, rows - row);
    // The address that row 0 would have; it may be negative, since addresses wrap.
    const output = sums - 4 * width * row;
    sumUpdates(row, row + count, width, first, next, updates, ld, output, 4 * width);
    store(sums, count, width, width, { at: to.offset + row * rowStep, rowStep, step });
  }
}
