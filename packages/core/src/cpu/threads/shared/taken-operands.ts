import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { type Arrivals, announcePart, createArrivals } from './arrivals.ts';
import { operandParts } from './operand-parts.ts';
import { type SharedBuffers, sharedBuffers } from './shared-buffers.ts';
import { copyPart, moved } from './shared-tensors.ts';

/**
 * Operands of a call in shared memory, where they stay as they were when it was made, whatever its caller
 * does with them next.
 */
export interface TakenOperands<R> {
  /** Not to be read before they have arrived. */
  readonly operands: R;
  /** How many parts have. */
  readonly arrivals: Arrivals;
  /** Copies them, at the first call. */
  arrive(): void;
  /** Memory of the call, theirs included. */
  readonly buffers: SharedBuffers;
}

/**
 * Takes operands for workers. They arrive apart from that, so that workers wake up meanwhile and start with
 * the first part; but before the call returns to its caller, who may write to them, or give them away, from
 * then on.
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
