import type { BackwardAmaxName } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';

/** Where threads leave parts of ∂L/∂(scaled q) of heads whose keys they share, in shared memory. */
export interface PartsOfDq {
  /** (slots, heads of a group, Sq, Dqk padded). */
  readonly sums: Float32Array;
  /** How many tasks of each group of heads are done. */
  readonly done: Int32Array;
}

/** Where the tasks of backward write. */
export interface BackwardSums {
  readonly dq: Tensor | null;
  readonly dk: Tensor | null;
  readonly dv: Tensor | null;
  /** Where threads leave the dq of heads whose keys are cut, in shared memory. */
  readonly dqParts: PartsOfDq | null;
  /** Per sequence (B, Hq). */
  readonly dsink: Float64Array | null;
  readonly dAlibi: Float64Array | null;
  /** In the own shape of the bias. */
  readonly dbias: Float64Array | null;
}

/**
 * The further results of a thread's tasks: gradients that are sums over all tasks, and the largest magnitudes
 * of FP8 problems.
 */
export interface BackwardExtras {
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
  readonly amax: BackwardAmax;
}

export type BackwardAmax = Readonly<Partial<Record<BackwardAmaxName, number>>>;
