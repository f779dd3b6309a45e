import type { Tensor } from '@tilewise/core';
import type { AttentionCase } from '../attention-case.ts';

/** What is timed: inference, or what a training step takes. */
export type Pass = 'forward' | 'forward + backward';

/** Gradients in the shapes of q, k and v. */
export interface Gradients {
  readonly dq: Tensor;
  readonly dk: Tensor;
  readonly dv: Tensor;
}

/**
 * An implementation of attention with one case on the GPU: inputs and results stay there. Inputs are there several times over, more
 * than caches hold, and a run takes those of its round.
 */
export interface Entry {
  /** Enqueues the forward pass; when the promise resolves, nothing is left that the queue does not know of. */
  forward(round: number): Promise<unknown>;
  /** The o of one forward pass, (B, H, S, D), f32. */
  o(): Promise<Tensor>;
  /** Enqueues what a training step takes, forward and backward; absent where the implementation has no backward. */
  training?(round: number): Promise<unknown>;
  gradients?(): Promise<Gradients>;
  close(): void;
}

/** An implementation of attention that runs beside ours. */
export interface Contestant {
  /** With version and operator, as in a table. */
  readonly name: string;
  /** What was done to it to make it run here; empty when nothing. */
  readonly note: string;
  /** Puts a case on the GPU, or says why it cannot run it. */
  open(of: AttentionCase): Promise<Entry | string>;
}
