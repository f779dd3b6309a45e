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

/** Assigns each temporary of a program to a slot; temporaries with disjoint lifetimes share a slot. */
export function planMemory(program: Program): MemoryPlan {
  const lives = lifetimes(program);
  const slots: { dtype: DType; length: number; freeFrom: number }[] = [];
  const slotOf = new Map<number, number>();
  const starts = [...lives].sort((a, b) => a[1].first - b[1].first);
  for (const [value, { first, last }] of starts) {
    const { desc } = program.values[value];
    const length = elementsSpanned(desc);
    const free = slots.findIndex(
      slot => slot.dtype === desc.dtype && slot.freeFrom <= first && slot.length >= length,
    );
    const at = free >= 0 ? free : slots.push({ dtype: desc.dtype, length, freeFrom: 0 }) - 1;
    slots[at].freeFrom = last + 1;
    slotOf.set(value, at);
  }
  const bytes = slots.reduce((sum, { dtype, length }) => sum + length * dtypeInfo[dtype].bytes, 0);
  return { slots: slots.map(({ dtype, length }) => ({ dtype, length })), slotOf, bytes };
}

/** The first and last step that access each temporary or a view of it. */
function lifetimes({ values, steps }: Program): Map<number, { first: number; last: number }> {
  const lives = new Map<number, { first: number; last: number }>();
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
