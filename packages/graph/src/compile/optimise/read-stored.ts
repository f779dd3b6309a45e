import type { DType } from '@tilewise/core';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
} from '../../ir/program/program.ts';
import { touched } from '../memory-plan.ts';
import { isDenseCopy } from './placed-step.ts';

/** The float dtypes that f32 represents exactly. */
const widened: readonly DType[] = ['f16', 'bf16'];

/**
 * Makes products and row kernels read 16-bit tensors as stored. A cast of such a tensor to f32 that only they
 * read, directly or through views, is removed: engines widen the numbers in the kernel.
 */
export function readStored({ values, steps }: Program): Program {
  const casts = new Map<number, PrimitiveStep>();
  for (const step of steps) if (isWidening(step, values)) casts.set(step.outputs[0], step);
  if (casts.size === 0) return { values, steps };
  const owner = (value: number): number => ownerOf(value, values);
  for (const step of steps) {
    const read = readsStored(step) ? step.outputs : touched(step);
    for (const value of read) if (casts.get(owner(value)) !== step) casts.delete(owner(value));
  }
  const all = [...values];
  const stored = (value: number): number => {
    const cast = casts.get(owner(value));
    if (!cast) return value;
    const [source] = cast.inputs;
    if (owner(value) === value) return source;
    const { shape, strides } = values[value].desc;
    const { dtype } = values[source].desc;
    return all.push({ kind: 'view', of: owner(source), desc: { dtype, shape, strides } }) - 1;
  };
  const left = steps.filter(step => step.kind !== 'primitive' || casts.get(step.outputs[0]) !== step);
  return {
    values: all,
    steps: left.map(step => (readsStored(step) ? { ...step, inputs: step.inputs.map(stored) } : step)),
  };
}

function readsStored(step: Step): step is PrimitiveStep {
  return step.kind === 'primitive' && (step.primitive.kind === 'matmul' || step.primitive.kind === 'rows');
}

/** Whether a step casts a dense tensor of 16-bit floats to a dense f32 temporary of the same shape. */
function isWidening(step: Step, values: readonly ProgramValue[]): step is PrimitiveStep {
  if (step.kind !== 'primitive' || !isDenseCopy(step, values)) return false;
  const [from, to] = [step.inputs[0], step.outputs[0]].map(value => values[value].desc.dtype);
  return to === 'f32' && widened.includes(from);
}
