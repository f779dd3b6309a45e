import { elementCount } from '../../../tensor/shape.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { sharingOf, type Worth } from '../../team/sharing.ts';
import { taskKinds } from '../../team/tasks.ts';
import type { Team } from '../../team/team.ts';
import type { LoopPlan } from '../plan/plan-loop.ts';
import { type LoopPart, nextPlace, wholePart, writeRunNumbers } from './run-numbers.ts';

/** In operations. */
const worth: Worth = { awake: 2 ** 18, asleep: 2 ** 20 };
/**
 * The most tasks per thread, so that threads end at about the same time, and the fewest elements of a task if
 * a thread gets more than one.
 */
const TASKS_EACH = 4;
const TASK_ELEMENTS = 2 ** 14;
/** The most places of the dimensions outside the rows, each of which is a run. */
const MOST_PLACES = 64;

/**
 * Runs a loop on the threads of a team. Each thread processes its own rows or columns, so that every result
 * has the same bits as on one thread. Returns false, and runs nothing, if the loop is short or cannot be
 * divided.
 */
export function shareLoop(
  plan: LoopPlan,
  kernels: Kernels,
  output: number,
  inputs: ArrayLike<number>,
  team: Team,
): boolean {
  const size = elementCount(plan.shape);
  const sharing = sharingOf(team, size * plan.spec.nodes.length, worth);
  if (!sharing) return false;
  const { threads, wakes } = sharing;
  const places = elementCount(plan.shape.slice(0, -2));
  const parts = partsOf(plan, size, threads);
  const number = places <= MOST_PLACES && parts ? team.loopNumber(plan) : null;
  if (!parts || number === null) return false;
  const { memory } = kernels;
  const { words } = plan;
  const first = memory.scratch(words * places * parts.length).at;
  const { i32 } = memory;
  const rows = parts.map((part, n) => {
    const at = first + 4 * words * places * n;
    writeRunNumbers(i32, at >>> 2, plan, output, inputs, part);
    for (let place = 1; place < places; place++) {
      const next = (at >>> 2) + words * place;
      i32.copyWithin(next, next - words, next);
      nextPlace(i32, next, plan);
    }
    return [taskKinds.loop, number, at, places, 4 * words];
  });
  team.run(kernels, { rows, packing: 0, wakes });
  return true;
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
  const { spec, outputSteps } = plan;
  const inner = spec.rank - 1;
  const isStored = spec.output.kind === 'store';
  const whole = wholePart(plan);
  const knowsColumn = spec.nodes.some(
    ([kind, , name, ...index]) =>
      kind === 'load' && name === 'coordinate' && Number(spec.nodes[index[0]][2]) === inner,
  );
  const count = threads * Math.max(1, Math.min(TASKS_EACH, Math.floor(size / (threads * TASK_ELEMENTS))));
  if (inner > 0 && whole.rows >= count && (isStored || outputSteps[inner - 1] !== 0)) {
    return ranges(whole.rows, count, 1).map(([firstRow, rows]) => ({ ...whole, firstRow, rows }));
  }
  // Four elements are computed at once.
  if (whole.count < 4 * count || knowsColumn || !(isStored || spec.output.step !== 'none')) return null;
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
