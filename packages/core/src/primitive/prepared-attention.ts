import type { AttentionProblem, BackwardProblem } from '../attention/problem/problem.ts';

/** The values that may change from one run of attention to the next, and the memory of the run. */
export interface AttentionRun<T> {
  /** 64-bit words, low and high, of the dropout seed and offset. Default: those of the problem. */
  readonly seed?: readonly [low: number, high: number] | undefined;
  readonly offset?: readonly [low: number, high: number] | undefined;
  /** Default: that of the problem. */
  readonly scale?: number | undefined;
  /** A tensor of `workspaceBytes` or more, where that is not 0. */
  readonly workspace?: T | undefined;
}

/** An attention problem that is ready to run, any number of times. */
export interface PreparedAttention<T> {
  /** Bytes of memory that a run needs beside its tensors; what is in it need not be kept. */
  readonly workspaceBytes: number;
  /**
   * Reads and writes tensors by the names of the options of a call and of its results (`q`, `bias`, `o`,
   * `dq`…; what mods capture is `captures.NAME`, the mask that dropout draws `outputs.dropoutMask`), laid out
   * as the problem says, lse and its like dense f32. `fp8` is one f32 list: the scalars as in
   * `fp8ScalarNames`, then the largest values, which are results. Allocates no tensor.
   * @returns a promise on an engine of the host, whose tensors are to be left alone until it has run.
   */
  run(tensors: Readonly<Record<string, T>>, options?: AttentionRun<T>): Promise<void> | void;
  /** Frees what the engine keeps for it. */
  release(): void;
}

/** Readies attention for the tensors of a problem; see `TensorEngine`. */
export type PrepareAttention<T> = (problem: AttentionProblem | BackwardProblem) => PreparedAttention<T>;
