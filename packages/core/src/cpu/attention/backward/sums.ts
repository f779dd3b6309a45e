import type { BackwardAmaxName } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';

/** Shared memory where threads store parts of ∂L/∂(scaled q) for heads whose keys they share. */
export interface PartsOfDq {
  /** (slots, heads of a group, Sq, Dqk padded). */
  readonly sums: Float32Array;
  /** The number of finished tasks of each group of heads. */
  readonly done: Int32Array;
}

/** Where the tasks of backward write. */
export interface BackwardSums {
  readonly dq: Tensor | null;
  readonly dk: Tensor | null;
  readonly dv: Tensor | null;
  /** Shared memory for the dq of heads whose keys are cut. */
  readonly dqParts: PartsOfDq | null;
  /** Per sequence (B, Hq). */
  readonly dsink: Float64Array | null;
  readonly dAlibi: Float64Array | null;
  /** In the bias's own shape. */
  readonly dbias: Float64Array | null;
}

/**
 * The other results of a thread's tasks: gradients that are sums over all tasks, and the largest magnitudes
 * of FP8 problems.
 */
export interface BackwardExtras {
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
  readonly amax: BackwardAmax;
}

export type BackwardAmax = Readonly<Partial<Record<BackwardAmaxName, number>>>;
