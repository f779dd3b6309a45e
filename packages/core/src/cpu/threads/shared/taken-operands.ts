import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { type Arrivals, announcePart, createArrivals } from './arrivals.ts';
import { operandParts } from './operand-parts.ts';
import { type SharedBuffers, sharedBuffers } from './shared-buffers.ts';
import { copyPart, moved } from './shared-tensors.ts';

/**
 * The operands of a call in shared memory, where they keep the values that they had at the call, whatever its
 * caller does with the originals afterwards.
 */
export interface TakenOperands<R> {
  /** Must not be read before they have arrived. */
  readonly operands: R;
  /** How many parts have arrived. */
  readonly arrivals: Arrivals;
  /** Copies the operands, at the first call. */
  arrive(): void;
  /** The memory of the call, including that of the operands. */
  readonly buffers: SharedBuffers;
}

/**
 * Prepares operands for workers. Copying them is a separate step, `arrive`, so that workers can wake up in
 * the meantime and start with the first part. It must be done before the call returns to its caller, who may
 * then overwrite or transfer the operands.
 */
export function takeOperands<O extends Operands<Tensor>>(
  problem: AttentionProblem,
  operands: O,
): TakenOperands<O> {
  const { count, buffers: inParts } = operandParts(problem, operands);
  const buffers = sharedBuffers();
  const { tensors, copies } = moved(operands, buffers.take);
  const whole = copies.filter(({ from }) => !inParts.has(from));
  const cut = copies.filter(({ from }) => inParts.has(from));
  const arrivals = createArrivals();
  let isHere = false;
  return {
    ...{ operands: tensors, arrivals, buffers },
    arrive() {
      if (isHere) return;
      isHere = true;
      for (const copy of whole) copyPart(copy, 0, 1);
      for (let part = 0; part < count; part++) {
        for (const copy of cut) copyPart(copy, part, count);
        announcePart(arrivals, part, part === count - 1);
      }
    },
  };
}
