import type { AttentionProblem, BackwardProblem } from '../attention/problem.ts';
import type { TensorDesc } from '../tensor/tensor.ts';

/** What may change from one run of attention to the next, and memory for it. */
export interface AttentionRun<T> {
  /** 64-bit words, low and high, of the dropout seed and offset. Default: those of the problem. */
  readonly seed?: readonly [low: number, high: number];
  readonly offset?: readonly [low: number, high: number];
  /** Default: that of the problem. */
  readonly scale?: number;
  /** A tensor of `workspaceBytes` or more, where that is not 0. */
  readonly workspace?: T;
}

/** An attention problem that is ready to run, any number of times. */
export interface PreparedAttention<T> {
  /** Bytes of memory that a run needs beside its tensors; what is in it need not be kept. */
  readonly workspaceBytes: number;
  /**
   * Reads and writes tensors by the names of the options of a call and of its results (`q`, `bias`, `o`, `dq`…; what mods capture is
   * `captures.NAME`), laid out as the problem says, lse and its like dense f32. Allocates no tensor.
   */
  run(tensors: Readonly<Record<string, T>>, options?: AttentionRun<T>): void;
  /** Frees what the device keeps for it. */
  release(): void;
}

/** What an engine on a device offers beside: its work goes in order, in an encoder of the caller too, and attention in the caller's tensors. */
export interface Recording<T extends TensorDesc = TensorDesc> {
  /**
   * Records what `work` runs in an encoder of the caller, in order. Nothing is submitted, and nothing read back.
   * @param target on WebGPU a GPUCommandEncoder or GPUComputePassEncoder.
   * @throws InvalidArgumentError for another target.
   */
  encode(target: object, work: () => void): void;
  /**
   * Readies attention for the tensors of a problem; gradients lie as the problem says.
   * @throws UnsupportedError when `checkSupport` has reasons.
   */
  prepareAttention(problem: AttentionProblem | BackwardProblem): PreparedAttention<T>;
}
