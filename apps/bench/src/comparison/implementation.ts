import type { Tensor } from '@tilewise/core';
import type { AttentionCase } from '../workloads/attention/attention-case.ts';

/** The timed pass: inference, or the passes of a training step. */
export type Pass = 'forward' | 'forward + backward';

/** Gradients in the shapes of q, k and v. */
export interface Gradients {
  readonly dq: Tensor;
  readonly dk: Tensor;
  readonly dv: Tensor;
}

/**
 * An implementation with one case on the GPU. Inputs and results stay there. There are several copies of the
 * inputs, more than caches hold, and each run uses the copy of its round.
 */
export interface OpenCase {
  /**
   * Enqueues the forward pass. When the promise resolves, all of its work has been submitted to the queue.
   */
  forward(round: number): Promise<unknown>;
  /** The o of one forward pass, (B, H, S, D), f32. */
  o(): Promise<Tensor>;
  /**
   * Enqueues the work of a training step, forward and backward; absent if the implementation has no backward
   * pass.
   */
  training?(round: number): Promise<unknown>;
  gradients?(): Promise<Gradients>;
  close(): void;
}

/** An implementation of attention that a comparison times. */
export interface Implementation {
  /** The name in the table, with version and operator. */
  readonly name: string;
  /** The changes that this implementation needs to run here; empty if it needs none. */
  readonly note: string;
  /** Uploads a case to the GPU, or says why the implementation cannot run the case. */
  open(of: AttentionCase): Promise<OpenCase | string>;
}
