import type { Tensor } from '@tilewise/core';
import type { Call } from '../tensors/call.ts';

/**
 * The results of one pass, by name. Results like q, k, v and o are (B, H, S, D), or (T, H, D) if the call
 * packs them.
 */
export interface PassResults {
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** Writes to memory that must not be written, as sentences. */
  readonly damage: readonly string[];
}

/** Runs the calls of cases: an engine, and the placement of its results in the case's layout. */
export interface Runner {
  /** @throws UnsupportedError with the reasons, or the typed error of a call that is refused. */
  forward(call: Call): Promise<PassResults>;
  /** Computes the gradients from o and lse of `forward`. Throws the same errors. */
  backward(call: Call, forward: PassResults): Promise<PassResults>;
}
