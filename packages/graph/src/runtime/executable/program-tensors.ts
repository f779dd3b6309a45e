import type { Shape, Strides, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { MemoryPlan } from '../../compile/memory-plan.ts';
import type { Program, ProgramValue } from '../../ir/program/program.ts';

/** The temporaries, constants and their views, which are the same in every run, by value index. */
export function fixedTensors<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { values }: Program,
  plan: MemoryPlan,
  slots: readonly T[],
  constants: ReadonlyMap<number, T>,
): (T | undefined)[] {
  const tensorOf = (n: number): T | undefined => {
    const value = values[n];
    if (value.kind === 'constant') return constants.get(n);
    const slot = plan.slotOf.get(n);
    const base = value.kind === 'view' ? tensorOf(value.of) : slot === undefined ? undefined : slots[slot];
    return base && engine.primitives.view(base, placeOf(value));
  };
  return values.map((_, n) => tensorOf(n));
}

/** The shape, strides and offset of a value in the memory that it shares. */
function placeOf(value: ProgramValue): { shape: Shape; strides: Strides; offset?: number | undefined } {
  const { shape, strides } = value.desc;
  return { shape, strides, ...(value.kind === 'view' && { offset: value.offset }) };
}

/**
 * Makes the views of tensors for the values of a program. The last views are kept, because the same tensors
 * usually recur.
 */
export function recentViews<T extends TensorDesc>(
  { primitives }: TensorEngine<T>,
  values: readonly ProgramValue[],
): { of(n: number, base: T): T; clear(): void } {
  const made: ({ readonly base: T; readonly view: T } | undefined)[] = [];
  return {
    of(n, base) {
      const known = made[n];
      if (known?.base === base) return known.view;
      const view = primitives.view(base, placeOf(values[n]));
      made[n] = { base, view };
      return view;
    },
    clear() {
      made.length = 0;
    },
  };
}
