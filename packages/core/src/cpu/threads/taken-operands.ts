import { type SharedBuffers, sharedBuffers } from './shared-buffers.ts';
import { moved } from './shared-tensors.ts';
import { createStartSignal, giveStartSignal, type StartSignal } from './start-signal.ts';

/** Operands of a call in shared memory, where they stay as they were when it was made, whatever its caller does with them next. */
export interface TakenOperands<R> {
  /** Not to be read before they have arrived. */
  readonly operands: R;
  /** Given when they have. */
  readonly start: StartSignal;
  /** Copies them, at the first call. */
  arrive(): void;
  /** Memory of the call, theirs included. */
  readonly buffers: SharedBuffers;
}

/**
 * Takes operands for workers. They arrive apart from that, so that workers wake up meanwhile; but before the call returns to its
 * caller, who may write to them, or give them away, from then on.
 */
export function takeOperands<R>(operands: R): TakenOperands<R> {
  const buffers = sharedBuffers();
  const { tensors, copy } = moved(operands, buffers.take);
  const start = createStartSignal();
  let isHere = false;
  return {
    ...{ operands: tensors, start, buffers },
    arrive() {
      if (isHere) return;
      isHere = true;
      copy();
      giveStartSignal(start);
    },
  };
}
