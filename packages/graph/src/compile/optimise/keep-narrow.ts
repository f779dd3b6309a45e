import { type DType, elementCount } from '@tilewise/core';
import { ownerOf, type PrimitiveStep, type Program, type Step } from '../../ir/program/program.ts';
import { touched } from '../memory-plan.ts';
import { isMap, isMove, isPlaced } from './placed-step.ts';

/** Whether a dtype has floats of 16 bits, which f32 represents exactly. */
export const isNarrow = (dtype: DType): boolean => dtype === 'f16' || dtype === 'bf16';

/**
 * Stores an f32 temporary in 16 bits if all its numbers are casts of one 16-bit dtype, and all steps that
 * read the temporary read any float dtype: engines widen the numbers in the kernel. No number changes, and
 * the casts become copies, which are then removed.
 */
export function keepNarrow({ values, steps }: Program): Program {
  const owner = (value: number): number => ownerOf(value, values);
  /**
   * The 16-bit dtype that holds all numbers of each memory which a program writes, by owner; null if no such
   * dtype is known.
   */
  const held = new Map<number, DType | null>();
  const updated = updatedInputs({ values, steps });
  const heldBy = (value: number): DType | null => {
    const { dtype } = values[value].desc;
    if (!isNarrow(dtype)) return held.get(owner(value)) ?? null;
    return updated.has(owner(value)) ? null : dtype;
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

/**
 * The 16-bit inputs from which maps compute a result of the same dtype and size, such as a parameter that is
 * updated. A caller may bind the result to the memory of the input, which is allowed only as long as the last
 * map does not read the input itself.
 */
function updatedInputs({ values, steps }: Program): ReadonlySet<number> {
  const found = new Set<number>();
  /** The 16-bit inputs from which maps compute each memory, by owner. */
  const sources = new Map<number, readonly number[]>();
  for (const step of steps) {
    if (!isMap(step)) continue;
    const read = step.inputs.flatMap(value => {
      const owner = ownerOf(value, values);
      const { kind, desc } = values[owner];
      return kind === 'input' && isNarrow(desc.dtype) ? [owner] : (sources.get(owner) ?? []);
    });
    const written = ownerOf(step.outputs[0], values);
    sources.set(written, [...new Set([...(sources.get(written) ?? []), ...read])]);
    const { kind, desc } = values[written];
    if (kind !== 'output') continue;
    for (const input of read) {
      const { dtype, shape } = values[input].desc;
      if (dtype === desc.dtype && elementCount(shape) === elementCount(desc.shape)) found.add(input);
    }
  }
  return found;
}

/** Whether the kernel of a step reads its operands in any float dtype. */
const readsAnyFloat = (step: Step): step is PrimitiveStep =>
  isPlaced(step) || (step.kind === 'primitive' && step.primitive.kind === 'matmul');
