import type { AttentionProblem } from '../../../attention/problem/problem.ts';
import type { AllocateWords, Memory } from '../../kernels/memory/memory.ts';
import type { HeadPlace } from './head-places.ts';
import type { SmallHeadPlan } from './plan.ts';

/** The memory that a pass over small heads reads and writes. */
export interface HeadOperands {
  /** The address of lse (B, Hq, Sq). */
  readonly lse: number;
  /** The number of f32 in each panel of a thread's scratch memory. */
  readonly panels: readonly number[];
  /** The heads of operands and results. */
  readonly places: readonly HeadPlace[];
}

/** The f32 in a cache line, at which panels begin. */
const LINE = 16;

/**
 * Writes the numbers of a pass, in the order of `assembly/heads/numbers.ts`, to memory from `allocate`, and
 * takes panels as scratch memory for some threads. Returns the address of the numbers.
 */
export function writeHeadNumbers(
  memory: Memory,
  { scale, Hq, Sq, Skv, Dqk, Dv }: AttentionProblem,
  { columns, ranges }: SmallHeadPlan,
  { lse, panels, places }: HeadOperands,
  threads: number,
  allocate: AllocateWords,
): number {
  const scratchBytes = panels.reduce((bytes, length) => bytes + panelBytes(length), 0);
  const rangesAt = ranges ? allocate(ranges.length) : 0;
  const scratch = memory.scratch((threads * scratchBytes) / 4).at;
  const words = [Hq, Sq, Skv, Dqk, Dv, columns, rangesAt, lse, scratch, scratchBytes];
  const at = allocate(1 + words.length + panels.length + 4 * places.length);
  const { f32, i32 } = memory;
  if (ranges) i32.set(ranges, rangesAt >>> 2);
  let to = at >>> 2;
  f32[to++] = scale;
  for (const word of words) i32[to++] = word;
  let offset = 0;
  for (const length of panels) {
    i32[to++] = offset;
    offset += panelBytes(length);
  }
  for (const place of places) {
    i32[to++] = place.at;
    i32[to++] = place.batch;
    i32[to++] = place.head;
    i32[to++] = place.row;
  }
  return at;
}

/** The bytes of a panel, which fills cache lines. */
function panelBytes(length: number): number {
  return 4 * LINE * Math.ceil(length / LINE);
}
