import type { Tensor } from '@tilewise/core';
import type { AttentionCase } from '../workloads/attention/attention-case.ts';

/** The pass that is timed: inference, or the passes of a training step. */
export type Pass = 'forward' | 'forward + backward';

/** Gradients in the shapes of q, k and v. */
export interface Gradients {
  readonly dq: Tensor;
  readonly dk: Tensor;
  readonly dv: Tensor;
}

/**
 * An implementation with one case on the GPU. Inputs and results stay there. There are several copies of the
 * inputs, more than caches hold, and a run takes the copy of its round.
 */
export interface OpenCase {
  /**
   * Enqueues the forward pass; when the promise resolves, nothing is left that the queue does not know of.
   */
  forward(round: number): Promise<unknown>;
  /** The o of one forward pass, (B, H, S, D), f32. */
  o(): Promise<Tensor>;
  /**
   * Enqueues what a training step takes, forward and backward; absent where the implementation has no
   * backward.
   */
  training?(round: number): Promise<unknown>;
  gradients?(): Promise<Gradients>;
  close(): void;
}

/** An implementation of attention that a comparison times. */
export interface Implementation {
  /** The name in the table, with version and operator. */
  readonly name: string;
  /** The changes that make the implementation run here; empty where none was needed. */
  readonly note: string;
  /** Puts a case on the GPU, or says why it cannot run it. */
  open(of: AttentionCase): Promise<OpenCase | string>;
}
