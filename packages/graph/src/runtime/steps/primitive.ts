import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { PrimitiveStep, Program } from '../../ir/program/program.ts';
import type { PreparedStep } from './prepared-step.ts';

/** Prepares a primitive step. */
export function preparePrimitive<T extends TensorDesc>(
  { primitives }: TensorEngine<T>,
  { values }: Program,
  { primitive, inputs, outputs }: PrimitiveStep,
): PreparedStep<T> {
  const descOf = (n: number): TensorDesc => values[n].desc;
  const prepared = primitives.prepare(primitive, inputs.map(descOf), outputs.map(descOf));
  const { workspaceBytes } = prepared;
  return {
    isRecorded: true,
    workspaceBytes,
    numbers: [],
    run({ tensor, scratch }) {
      prepared.run(inputs.map(tensor), outputs.map(tensor), scratch(workspaceBytes));
      return true;
    },
    release: () => prepared.release(),
  };
}
