import { type DType, dtypeInfo, elementsSpanned } from '@tilewise/core';
import { ownerOf, type Program, type Step } from '../ir/program/program.ts';
import { optionNumbers } from './attention/options.ts';

/** Memory that several temporaries use in turn. */
export interface Slot {
  readonly dtype: DType;
  readonly length: number;
}

/** Assigns a slot to each temporary. */
export interface MemoryPlan {
  readonly slots: readonly Slot[];
  /** The slot by the index of the value. */
  readonly slotOf: ReadonlyMap<number, number>;
  readonly bytes: number;
}

/** The largest temporary, in elements, whose memory a device leaves unused for `UNUSED_STEPS`. */
const MAX_UNUSED = 2 ** 16;
/** The number of steps after the last use of small temporaries in which their memory is not used. */
const UNUSED_STEPS = 8;

/** The first and last step that access a temporary or a view of it. */
interface Lifetime {
  readonly first: number;
  last: number;
}

/**
 * Assigns each temporary of a program to a slot; temporaries with disjoint lifetimes share a slot. The
 * largest are assigned first, so that a slot is as long as its first temporary and need not grow: "greedy by
 * size for shared objects" of Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference
 * (2020).
 * @param onDevice whether a device runs the program. Steps that do not depend on each other, such as the
 * products for q, k and v of one token, can share a dispatch, but not if one overwrites what another one
 * reads. Therefore the memory of small temporaries is not used again at once.
 */
export function planMemory(program: Program, onDevice = false): MemoryPlan {
  const slots: Slot[] = [];
  /** The lifetimes in each slot, in order of time. */
  const livesIn: Lifetime[][] = [];
  const slotOf = new Map<number, number>();
  const temporaries = [...lifetimes(program)]
    .map(([value, life]) => ({ value, life, length: elementsSpanned(program.values[value].desc) }))
    .sort((a, b) => b.length - a.length);
  for (const { value, life, length } of temporaries) {
    if (onDevice && length <= MAX_UNUSED) life.last += UNUSED_STEPS;
    const { dtype } = program.values[value].desc;
    const free = slots.findIndex((slot, n) => slot.dtype === dtype && isFree(livesIn[n], life));
    const at = free < 0 ? slots.push({ dtype, length }) - 1 : free;
    livesIn[at] ??= [];
    livesIn[at].splice(placeIn(livesIn[at], life), 0, life);
    slotOf.set(value, at);
  }
  const bytes = slots.reduce((sum, { dtype, length }) => sum + length * dtypeInfo[dtype].bytes, 0);
  return { slots, slotOf, bytes };
}

/** Whether `life` overlaps no lifetime of a list. At an end of the list, `undefined` compares as false. */
function isFree(lives: readonly Lifetime[], life: Lifetime): boolean {
  const at = placeIn(lives, life);
  return !(lives[at - 1]?.last >= life.first || lives[at]?.first <= life.last);
}

/** Where a lifetime belongs in a list that is in order of time: usually at the end. */
function placeIn(lives: readonly Lifetime[], { first }: Lifetime): number {
  let at = lives.length;
  while (lives[at - 1]?.first > first) at--;
  return at;
}

/** The lifetimes of a program's temporaries, in the order in which they begin. */
function lifetimes({ values, steps }: Program): Map<number, Lifetime> {
  const lives = new Map<number, Lifetime>();
  steps.forEach((step, n) => {
    for (const value of touched(step)) {
      const own = ownerOf(value, values);
      if (values[own].kind !== 'temporary') continue;
      const life = lives.get(own);
      if (life) life.last = n;
      else lives.set(own, { first: n, last: n });
    }
  });
  return lives;
}

/** The values that a step reads or writes. */
export function touched(step: Step): number[] {
  if (step.kind === 'primitive') return [...step.inputs, ...step.outputs];
  if (step.kind === 'attention-call') {
    const own = [...Object.values(step.operands), ...Object.values(step.results), step.fp8List];
    return own.filter(v => v !== undefined);
  }
  const { options: score, scoreMod, zeroBias, rounding } = step.options;
  const options = [
    rounding?.factor,
    score?.bias,
    score?.mask,
    zeroBias,
    ...Object.values(scoreMod.captures),
    ...Object.values(score?.maskMod?.captures ?? {}),
    ...optionNumbers(step.options),
  ];
  const own = step.kind === 'sdpa' ? [step.fp8List] : [step.o, step.lse, step.dO];
  return [step.q, step.k, step.v, ...own, ...options, ...Object.values(step.results)].filter(
    v => v !== undefined,
  );
}
