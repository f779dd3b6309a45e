import { input } from '../../primitive/element.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import type { MatrixKernels } from '../kernels/interface/matrix-kernels.ts';
import { linkedLoops } from '../loops/compiled-loop.ts';
import { loopInputs, planLoop } from '../loops/plan/plan-loop.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import { createStoreRows } from '../operands/row-store.ts';
import { shareStep } from '../steps/share-step.ts';
import { type Step, undividedStep } from '../steps/step.ts';
import type { SharedFrom } from '../team/sharing.ts';
import { taskKinds } from '../team/tasks.ts';
import type { KernelPrimitive } from './kernel-primitive.ts';
import { loopStep } from './loops/loop-step.ts';
import { runLoop } from './loops/run-loop.ts';
import { createMatrixLines } from './products/matrix-lines.ts';

/** The maximum number of results that are computed at once if the output is not written in place. */
const STORED = 2 ** 16;
/** In elements of updates. */
const sharedFrom: SharedFrom = { awake: 2 ** 17, asleep: 2 ** 19 };
/** The maximum number of tasks per thread, so that threads end at about the same time. */
const TASKS_EACH = 4;

/** The parameters of `sumUpdates` between the rows and the output. */
type Updates = readonly [width: number, first: number, next: number, updates: number, ld: number];

/**
 * Prepares a scatter-add: updates are listed by the row that they are added to, and each row of the output is
 * summed in f64, in the order of its updates, and rounded to f32 and to the output's dtype. Null if only the
 * host can run it: indices in u32, updates whose rows are not contiguous but whose columns are, and empty
 * tensors.
 */
export function prepareScatterAdd(
  [indices, updates]: readonly TensorDesc[],
  output: TensorDesc,
): KernelPrimitive | null {
  const [rows, width] = output.shape;
  const [count] = indices.shape;
  const [row, column] = updates.strides;
  if (rows * width * count === 0 || (row === 1 && column !== 1)) return null;
  const indexLoop = planLoop(input(0, 'i32'), loopInputs([indices]), [count], {
    ...{ kind: 'store', format: 'i32', strides: [1] },
  });
  if (!indexLoop) return null;
  const link = linkedLoops([indexLoop]);
  const isDirect = output.dtype === 'f32' && output.strides[1] === 1;

  const run: KernelPrimitive['run'] = (kernels, [from, values], [to], team) => {
    const { memory, matrices } = kernels;
    const loops = link(kernels.loops);
    if (!loops || !kernels.loops || !matrices) return false;
    memory.reset();
    const at = memory.scratch(count).at;
    runLoop(indexLoop, loops[0], kernels, at, [readable(memory, from)]);
    const lines = createMatrixLines(kernels, kernels.loops, values, { row, column, batch: [] }, count, width);
    const [first, next] = [memory.scratch(rows).at, memory.scratch(count).at];
    matrices.listUpdates(count, rows, at, first, next);
    const source: Updates = [width, first, next, lines.load(0, 0, count, 0, width), lines.ld];
    if (isDirect) {
      const result = writable(memory, to);
      const target = [result, 4 * output.strides[0]] as const;
      const isShared = team && shareStep(kernels, sumsStep(source, target, rows, count * width), team);
      if (!isShared) matrices.sumUpdates(0, rows, ...source, ...target);
      copyBack(memory, to, result);
    } else storeSums(kernels, matrices, source, rows, to);
    return true;
  };
  const steps: KernelPrimitive['steps'] = (kernels, [from, values], [to]) => {
    const { memory, loops } = kernels;
    if (!isDirect || !loops) return null;
    const at = memory.scratch(count).at;
    const lines = createMatrixLines(kernels, loops, values, { row, column, batch: [] }, count, width);
    if (!lines.isInPlace) return null;
    const [first, next] = [memory.scratch(rows).at, memory.scratch(count).at];
    const source: Updates = [width, first, next, lines.load(0, 0, count, 0, width), lines.ld];
    const target = [writable(memory, to), 4 * output.strides[0]] as const;
    return [
      loopStep(indexLoop, kernels, at, [readable(memory, from)]),
      undividedStep(() => [taskKinds.listUpdates, count, rows, at, first, next]),
      sumsStep(source, target, rows, count * width),
    ];
  };
  return { run, steps };
}

/** The sums of all rows, in place, as a step. */
function sumsStep(
  source: Updates,
  target: readonly [output: number, ldOutput: number],
  rows: number,
  size: number,
): Step {
  return {
    size,
    sharedFrom,
    tasks(threads) {
      const each = Math.ceil(rows / (threads * TASKS_EACH));
      const tasks: number[][] = [];
      for (let from = 0; from < rows; from += each) {
        tasks.push([taskKinds.sumUpdates, from, Math.min(from + each, rows), ...source, ...target]);
      }
      return tasks;
    },
  };
}

/** Sums some rows at a time, and rounds them to the dtype of a tensor. */
function storeSums(
  kernels: Kernels,
  { sumUpdates }: MatrixKernels,
  source: Updates,
  rows: number,
  to: Tensor,
): void {
  const [width] = source;
  const atOnce = Math.max(1, Math.floor(STORED / width));
  const sums = kernels.memory.scratch(atOnce * width).at;
  const store = createStoreRows(kernels, to, atOnce * width);
  const [rowStep, step] = to.strides;
  for (let row = 0; row < rows; row += atOnce) {
    const count = Math.min(atOnce, rows - row);
    // The address that row 0 would have; it may be negative, since addresses wrap.
    const output = sums - 4 * width * row;
    sumUpdates(row, row + count, ...source, output, 4 * width);
    store(sums, count, width, width, { at: to.offset + row * rowStep, rowStep, step });
  }
}
