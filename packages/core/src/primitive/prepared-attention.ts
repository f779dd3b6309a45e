import type { AttentionProblem, BackwardProblem } from '../attention/problem/problem.ts';
import type { BoundWork } from './bound-work.ts';

/** The values that may change from one run of attention to the next, and the memory of the run. */
export interface AttentionRun<T> {
  /** The dropout seed as 64-bit words, low and high. Default: that of the problem. */
  readonly seed?: readonly [low: number, high: number] | undefined;
  /** The dropout offset as 64-bit words, low and high. Default: that of the problem. */
  readonly offset?: readonly [low: number, high: number] | undefined;
  /** Default: that of the problem. */
  readonly scale?: number | undefined;
  /** A tensor of at least `workspaceBytes`, required unless that is 0. */
  readonly workspace?: T | undefined;
}

/** An attention problem that is ready to run, any number of times. */
export interface PreparedAttention<T> {
  /**
   * The bytes of memory that a run needs besides its tensors. Nothing in it needs to survive between runs.
   */
  readonly workspaceBytes: number;
  /**
   * Reads and writes tensors by the names of a call's options and results (`q`, `bias`, `o`, `dq`…; captured
   * tensors are `captures.NAME`, their gradients `dCaptures.NAME`, the tensors of the option `mxfp8`
   * `mxfp8.NAME`, and the mask that dropout draws is `outputs.dropoutMask`). Each tensor has the layout that
   * the problem describes; lse and the other row statistics are dense f32. `fp8` is one f32 list: the scalars
   * in the order of `fp8ScalarNames`, then the largest magnitudes in the order of `fp8AmaxNames`, which are
   * results. Allocates no tensor.
   * @returns a promise on a host engine; do not change the tensors until it resolves.
   */
  run(tensors: Readonly<Record<string, T>>, options?: AttentionRun<T>): Promise<void> | void;
  /**
   * Prepares repeated runs on given tensors with given numbers; see `bind` of a prepared primitive.
   */
  bind?(tensors: Readonly<Record<string, T>>, options?: AttentionRun<T>): BoundWork | null;
  /** Frees the resources that the engine holds for it. */
  release(): void;
}

/** Prepares attention for the tensors of a problem; see `TensorEngine`. */
export type PrepareAttention<T> = (problem: AttentionProblem | BackwardProblem) => PreparedAttention<T>;
