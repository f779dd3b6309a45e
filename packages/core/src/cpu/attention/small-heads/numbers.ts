import type { AttentionProblem } from '../../../attention/problem/problem.ts';
import type { Memory } from '../../kernels/memory/memory.ts';
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
 * Writes the numbers of a pass, in the order of `assembly/heads/numbers.ts`, and allocates scratch memory for
 * some threads. Returns the address of the numbers.
 */
export function writeHeadNumbers(
  memory: Memory,
  { scale, Hq, Sq, Skv, Dqk, Dv }: AttentionProblem,
  { columns, ranges }: SmallHeadPlan,
  { lse, panels, places }: HeadOperands,
  threads: number,
): number {
  const offsets: number[] = [];
  let scratchBytes = 0;
  for (const length of panels) {
    offsets.push(scratchBytes);
    scratchBytes += 4 * LINE * Math.ceil(length / LINE);
  }
  const rangesAt = ranges ? memory.scratch(ranges.length).at : 0;
  const scratch = memory.scratch((threads * scratchBytes) / 4).at;
  const words = [
    // The first number, the scale, is an f32.
    ...[0, Hq, Sq, Skv, Dqk, Dv, columns, rangesAt, lse, scratch, scratchBytes],
    ...offsets,
    ...places.flatMap(({ at, batch, head, row }) => [at, batch, head, row]),
  ];
  const { at } = memory.scratch(words.length);
  const { f32, i32 } = memory;
  if (ranges) i32.set(ranges, rangesAt >> 2);
  i32.set(words, at >> 2);
  f32[at >> 2] = scale;
  return at;
}
