import type { Tensor } from '@tilewise/core';
import type { Call } from '../tensors/call.ts';

/**
 * Results of one pass, by name. Those of q, k, v and o are (B, H, S, D), or (T, H, D) where the call packs
 * them.
 */
export interface PassResults {
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** The writes where nothing may be written, as sentences. */
  readonly damage: readonly string[];
}

/** Runs the calls of cases: an engine, and how its results get where the case wants them. */
export interface Runner {
  /** @throws UnsupportedError with the reasons, or the typed error of a call that is refused. */
  forward(call: Call): Promise<PassResults>;
  /** The gradients from o and lse of `forward`. Throws likewise. */
  backward(call: Call, forward: PassResults): Promise<PassResults>;
}
