import type { DType } from '@tilewise/core';
import { ownerOf, type PrimitiveStep, type Program, type Step } from '../../ir/program/program.ts';
import { touched } from '../memory-plan.ts';
import { isMove, isPlaced } from './placed-step.ts';

/** Whether a dtype has floats of 16 bits, which f32 represents exactly. */
export const isNarrow = (dtype: DType): boolean => dtype === 'f16' || dtype === 'bf16';

/**
 * Stores an f32 temporary in 16 bits if all its numbers are casts of one 16-bit dtype, and all steps that
 * read the temporary read any float dtype: engines widen the numbers in the kernel. No number changes, and
 * the casts become copies, which are then removed.
 */
export function keepNarrow({ values, steps }: Program): Program {
  const owner = (value: number): number => ownerOf(value, values);
  /** The dtype of the numbers in each temporary, by owner; null for numbers of several dtypes, or of f32. */
  const held = new Map<number, DType | null>();
  const heldBy = (value: number): DType | null => {
    const { dtype } = values[value].desc;
    return isNarrow(dtype) ? dtype : (held.get(owner(value)) ?? null);
  };
  for (const step of steps) {
    const moved = isMove(step) ? heldBy(step.inputs[0]) : null;
    for (const value of readsAnyFloat(step) ? step.outputs : touched(step)) {
      const known = held.get(owner(value));
      held.set(owner(value), known === undefined || known === moved ? moved : null);
    }
  }
  const kept = (value: number): DType | null => {
    const { kind, desc } = values[owner(value)];
    return kind === 'temporary' && desc.dtype === 'f32' ? (held.get(owner(value)) ?? null) : null;
  };
  return {
    values: values.map((value, n) => {
      const dtype = kept(n);
      return dtype ? { ...value, desc: { ...value.desc, dtype } } : value;
    }),
    steps,
  };
}

/** Whether the kernel of a step reads its operands in any float dtype. */
const readsAnyFloat = (step: Step): step is PrimitiveStep =>
  isPlaced(step) || (step.kind === 'primitive' && step.primitive.kind === 'matmul');
