import type { AttentionProblem } from '../../../attention/problem/problem.ts';
import type { AllocateWords, Memory } from '../../kernels/memory/memory.ts';
import type { HeadAddresses } from './head-addresses.ts';
import type { SmallHeadPlan } from './plan.ts';

/** The memory that a pass over small heads reads and writes. */
export interface HeadOperands {
  /** The address of lse (B, Hq, Sq). */
  readonly lse: number;
  /** The number of f32 in each panel of a thread's scratch memory. */
  readonly panels: readonly number[];
  /** The heads of operands and results. */
  readonly addresses: readonly HeadAddresses[];
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
  { lse, panels, addresses }: HeadOperands,
  threads: number,
  allocate: AllocateWords,
): number {
  const scratchBytes = panels.reduce((bytes, length) => bytes + panelBytes(length), 0);
  const rangesAt = ranges ? allocate(ranges.length) : 0;
  const scratch = memory.scratch((threads * scratchBytes) / 4).at;
  const words = [Hq, Sq, Skv, Dqk, Dv, columns, rangesAt, lse, scratch, scratchBytes];
  const at = allocate(1 + words.length + panels.length + 4 * addresses.length);
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
  for (const { at: first, batch, head, row } of addresses) {
    i32[to++] = first;
    i32[to++] = batch;
    i32[to++] = head;
    i32[to++] = row;
  }
  return at;
}

/** The bytes of a panel, which fills cache lines. */
function panelBytes(length: number): number {
  return 4 * LINE * Math.ceil(length / LINE);
}
