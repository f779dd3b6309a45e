import type { TensorDesc } from '@tilewise/core';
import type { Primitives, TensorEngine } from '@tilewise/core/primitive';
import { isCopy } from '../../compile/overwrites.ts';
import type { PrimitiveStep, Program } from '../../ir/program/program.ts';
import type { PreparedStep } from './prepared-step.ts';
import { noWork, recurringWork } from './recurring-work.ts';

/** Prepares a primitive step. */
export function preparePrimitive<T extends TensorDesc>(
  { primitives }: TensorEngine<T>,
  { values }: Program,
  { primitive, inputs, outputs }: PrimitiveStep,
): PreparedStep<T> {
  const descOf = (n: number): TensorDesc => values[n].desc;
  const prepared = primitives.prepare(primitive, inputs.map(descOf), outputs.map(descOf));
  const { workspaceBytes } = prepared;
  const copies = isCopy(primitive);
  const recurring = recurringWork<T>((tensor, workspace) =>
    prepared.bind?.(inputs.map(tensor), outputs.map(tensor), workspace),
  );
  /** Whether the last run copied a tensor to itself, as an in-place operation does. */
  let isIdle = false;
  return {
    isRecorded: true,
    workspaceBytes,
    values: [...inputs, ...outputs],
    numbers: [],
    get work() {
      return isIdle ? noWork : recurring.work;
    },
    run({ tensor, scratch }, isSame) {
      isIdle = copies && isOnePlace(primitives, tensor(inputs[0]), tensor(outputs[0]));
      if (isIdle) {
        recurring.release();
        return true;
      }
      const workspace = scratch(workspaceBytes);
      const bound = recurring.find(isSame, tensor, workspace);
      if (bound) bound.run();
      else prepared.run(inputs.map(tensor), outputs.map(tensor), workspace);
      return true;
    },
    unbind: () => recurring.release(),
    release() {
      recurring.release();
      prepared.release();
    },
  };
}

function isOnePlace<T extends TensorDesc>(primitives: Primitives<T>, a: T, b: T): boolean {
  const [from, to] = [primitives.placeOf(a), primitives.placeOf(b)];
  return from.memory === to.memory && from.byteOffset === to.byteOffset;
}
