import { elementCount } from '../../../tensor/shape.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { loopNumber } from '../../loops/numbered-loops.ts';
import type { LoopPlan } from '../../loops/plan/plan-loop.ts';
import type { Step } from '../../steps/step.ts';
import type { SharedFrom } from '../../team/sharing.ts';
import { taskKinds } from '../../team/tasks.ts';
import { type LoopPart, nextRun, wholePart, writeRunNumbers } from './run-numbers.ts';

/** In operations. */
const sharedFrom: SharedFrom = { awake: 2 ** 16, asleep: 2 ** 20 };
/**
 * How many operations take as long as adding a number to the result of its row, which waits for that result.
 */
const ADD_LATENCY = 8;
/**
 * The maximum number of tasks per thread, so that threads end at about the same time, and the minimum number
 * of elements of a task if a thread gets more than one.
 */
const TASKS_EACH = 4;
const TASK_ELEMENTS = 2 ** 14;
/** The minimum number of columns of a part of many rows. */
const PART_COLUMNS = 32;
/** The maximum number of i32 for the numbers of all runs. */
const MAX_NUMBERS = 2 ** 14;

/**
 * A loop as a step. Each thread processes its own rows or columns, so that every result has the same bits as
 * on one thread.
 * @param output the address of the output's first element; `inputs` has those of the inputs.
 */
export function loopStep(plan: LoopPlan, kernels: Kernels, output: number, inputs: ArrayLike<number>): Step {
  const size = elementCount(plan.shape);
  const { nodes, output: result } = plan.spec;
  return {
    size: size * (nodes.length + (result.kind !== 'store' && result.step === 'none' ? ADD_LATENCY : 0)),
    sharedFrom,
    tasks(threads, allocate) {
      const parts = size === 0 ? [] : partsOf(plan, size, threads);
      const { words } = plan;
      const wanted = parts ? words * parts.reduce((sum, { runs }) => sum + runs, 0) : Infinity;
      if (!kernels.loops || !parts || wanted > MAX_NUMBERS) return null;
      const number = loopNumber(plan, kernels.loops);
      if (number === null) return null;
      let next = allocate(wanted) >>> 2;
      // Views of the memory from before the allocation may be too short for the new numbers.
      const { i32 } = kernels.memory;
      return parts.map(part => {
        const at = next;
        writeRunNumbers(i32, at, plan, output, inputs, part);
        for (let run = 0; run < part.firstRun; run++) nextRun(i32, at, plan);
        for (next += words; next < at + words * part.runs; next += words) {
          i32.copyWithin(next, next - words, next);
          nextRun(i32, next, plan);
        }
        return [taskKinds.loop, number, 4 * at, part.runs, 4 * words];
      });
    },
  };
}

/** The threads that a loop was last divided among, and its parts. */
interface Division {
  readonly threads: number;
  readonly parts: readonly LoopPart[] | null;
}

const divisions = /* @__PURE__ */ new WeakMap<LoopPlan, Division>();

/** Parts of a loop that write different elements; null if the loop cannot be divided like that. */
function partsOf(plan: LoopPlan, size: number, threads: number): readonly LoopPart[] | null {
  const known = divisions.get(plan);
  if (known?.threads === threads) return known.parts;
  const parts = divide(plan, size, threads);
  divisions.set(plan, { threads, parts });
  return parts;
}

function divide(plan: LoopPlan, size: number, threads: number): readonly LoopPart[] | null {
  const whole = wholePart(plan);
  if (threads === 1) return [whole];
  const { spec, outputSteps } = plan;
  const inner = spec.rank - 1;
  const isStored = spec.output.kind === 'store';
  const knowsColumn = spec.nodes.some(
    ([kind, , name, ...index]) =>
      kind === 'load' && name === 'coordinate' && Number(spec.nodes[index[0]][2]) === inner,
  );
  const count = threads * Math.max(1, Math.min(TASKS_EACH, Math.floor(size / (threads * TASK_ELEMENTS))));
  // The elements of a run are usually consecutive in memory, like the rows of a product that a thread has
  // computed.
  if (whole.runs >= count && (isStored || !outputSteps.slice(0, -2).includes(0)))
    return ranges(whole.runs, count, 1).map(([firstRun, runs]) => ({ ...whole, firstRun, runs }));
  if (inner > 0 && whole.rows >= count && (isStored || outputSteps[inner - 1] !== 0)) {
    return ranges(whole.rows, count, 1).map(([firstRow, rows]) => ({ ...whole, firstRow, rows }));
  }
  // Four elements are computed at once.
  if (whole.count < 4 * count || knowsColumn || !(isStored || spec.output.step !== 'none')) return null;
  // A part of so few columns takes as long as the whole row.
  if (inner > 0 && whole.count < threads * PART_COLUMNS) return null;
  // Parts of few columns would read a little of many pages.
  const wide = inner > 0 ? threads : count;
  return ranges(whole.count, wide, 4).map(([from, own]) => ({ ...whole, from, count: own }));
}

/**
 * Divides `size` into about `count` ranges, each except the last a multiple of `unit`; returns where each
 * starts and its length.
 */
function ranges(size: number, count: number, unit: number): [start: number, length: number][] {
  const length = Math.ceil(size / count / unit) * unit;
  return Array.from({ length: Math.ceil(size / length) }, (_, n) => [
    n * length,
    Math.min(length, size - n * length),
  ]);
}
