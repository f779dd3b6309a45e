import { type DType, elementCount, sameShape } from '@tilewise/core';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
} from '../../ir/program/program.ts';
import { touched } from '../memory-plan.ts';
import { isCopy } from '../overwrites.ts';
import { layoutIn } from './copies/copies-as-views.ts';
import { type Layout, placeThrough } from './copies/place-through.ts';

/** Whether a dtype has floats of 16 bits, which f32 represents exactly. */
export const isNarrow = (dtype: DType): boolean => dtype === 'f16' || dtype === 'bf16';

/**
 * Makes products and row kernels read 16-bit tensors as stored. A cast of such a tensor to f32 that only they
 * read, directly or through views, is removed: engines widen the numbers in the kernel.
 */
export function readStored({ values, steps }: Program): Program {
  const casts = new Map<number, PrimitiveStep>();
  const owner = (value: number): number => ownerOf(value, values);
  for (const step of steps) if (isWidening(step, values)) casts.set(owner(step.outputs[0]), step);
  /** Where the elements of a value lie in the tensor that the value is a cast of. */
  const placeOf = (value: number, { inputs: [source], outputs: [cast] }: PrimitiveStep): Layout | null =>
    placeThrough(layoutIn(values[value]), layoutIn(values[cast]), layoutIn(values[source]));
  for (const step of steps) {
    const read = readsStored(step) ? step.inputs : [];
    for (const value of touched(step)) {
      const cast = casts.get(owner(value));
      if (!cast || cast === step) continue;
      if (!read.includes(value) || placeOf(value, cast) === null) casts.delete(owner(value));
    }
  }
  const all = [...values];
  const stored = (value: number): number => {
    const cast = casts.get(owner(value));
    const place = cast && placeOf(value, cast);
    if (!place) return value;
    const [source] = cast.inputs;
    const { shape, strides, offset } = place;
    const { dtype } = values[source].desc;
    return all.push({ kind: 'view', of: owner(source), desc: { dtype, shape, strides }, offset }) - 1;
  };
  const left = steps.filter(step => step.kind !== 'primitive' || casts.get(owner(step.outputs[0])) !== step);
  return {
    values: all,
    steps: left.map(step => (readsStored(step) ? { ...step, inputs: step.inputs.map(stored) } : step)),
  };
}

function readsStored(step: Step): step is PrimitiveStep {
  return step.kind === 'primitive' && (step.primitive.kind === 'matmul' || step.primitive.kind === 'rows');
}

/** Whether a step casts 16-bit floats to all elements of an f32 temporary. */
function isWidening(step: Step, values: readonly ProgramValue[]): step is PrimitiveStep {
  if (step.kind !== 'primitive' || !isCopy(step.primitive) || step.inputs.length !== 1) return false;
  const [from, to] = [values[step.inputs[0]].desc, values[step.outputs[0]].desc];
  const whole = values[ownerOf(step.outputs[0], values)];
  return (
    whole.kind === 'temporary' &&
    to.dtype === 'f32' &&
    isNarrow(from.dtype) &&
    sameShape(from.shape, to.shape) &&
    elementCount(whole.desc.shape) === elementCount(to.shape)
  );
}
