import type { BackwardInputs, SdpaBackwardOptions, SdpaOptions } from '../attention/options/options.ts';
import type {
  AttentionProblem,
  BackwardAmaxName,
  BackwardProblem,
  GradientName,
} from '../attention/problem/problem.ts';
import type { Tensor, TensorDesc } from '../tensor/tensor.ts';

/** Whether an engine can run a problem and, if not, every reason why. */
export interface Support {
  /** Whether the engine runs the problem. */
  readonly supported: boolean;
  /** Why not; empty if it does. */
  readonly reasons: readonly string[];
}

/**
 * The results of forward. `lse`, `max`, `sumExp` are f32 (Hq, T) if q is packed by its cumulative lengths,
 * else (B, Hq, Sq); `dropoutMask` is u8 (B, Hq, Sq, Skv).
 */
export interface SdpaResult<T = Tensor> {
  /** (B, Hq, Sq, Dv), or packed or ragged (T, Hq, Dv). */
  readonly o: T;
  /** The natural logarithm of the sum of e^score of each row, with the sink; dropout does not change it. */
  readonly lse: T;
  /** The largest score of each row, or its sink if that is larger. */
  readonly max?: T;
  /** The sum of e^(score − max) of each row, with the sink: lse = max + ln(sumExp). */
  readonly sumExp?: T;
  /** 1 where a probability was kept, 0 where it was dropped. */
  readonly dropoutMask?: T;
  /** f32 (1): the largest probability after dropout, before its FP8 scale. */
  readonly amaxS?: T;
  /** f32 (1): the largest |o|, before its FP8 scale. */
  readonly amaxO?: T;
}

/**
 * Gradients by name, each in the shape of its operand; only the requested gradients are present. Largest
 * magnitudes are f32 (1).
 */
export type SdpaGradients<T = Tensor, G extends GradientName = 'dq' | 'dk' | 'dv'> = Readonly<
  Record<G, T> &
    Partial<Record<GradientName | BackwardAmaxName, T>> & {
      /**
       * The gradients of the float tensors that the score mod loads, by name, each in its tensor's shape and
       * dtype; absent if there are none.
       */
      dCaptures?: Readonly<Record<string, T>>;
    }
>;

/**
 * An object that runs attention problems: the reference, the CPU, a GPU. `T` is its tensor type. Graphs and
 * applications are written against this interface and do not depend on the engine.
 */
export interface Engine<T extends TensorDesc = TensorDesc> {
  /** Short stable name: `'reference'`, `'cpu'`, `'webgpu'`. */
  readonly name: string;
  /** A description of the hardware, for humans. */
  readonly description: string;
  /** Whether the engine can run a problem, and why not. An engine never falls back silently. */
  checkSupport(problem: AttentionProblem | BackwardProblem): Support;
  /**
   * A tensor of the engine with the values, dtype, shape and strides of a host tensor; the given tensor
   * itself if the engine can use it as it is.
   * @throws InvalidArgumentError for a value that is not a tensor on this host.
   */
  upload(tensor: Tensor): T;
  /** A host tensor with the values, dtype and shape of a tensor of the engine. */
  download(tensor: T): Promise<Tensor>;
  /**
   * Frees a tensor's memory now instead of when the engine ends. The tensor and its views must not be used
   * afterwards: an engine that can tell refuses them with an InvalidArgumentError.
   */
  release(tensor: T): void;
  /**
   * Attention, forward: q (B, Hq, Sq, Dqk), k (B, Hk, Skv, Dqk) and v (B, Hv, Skv, Dv), or in the layouts
   * that the options allow. Rejects with the errors of `normalise`, or an UnsupportedError if `checkSupport`
   * has reasons.
   */
  sdpa(q: T, k: T, v: T, options?: SdpaOptions<T>): Promise<SdpaResult<T>>;
  /** The gradients of attention; takes the options of the forward call. Rejects as `sdpa`. */
  sdpaBackward<G extends GradientName = 'dq' | 'dk' | 'dv'>(
    inputs: BackwardInputs<T>,
    options?: SdpaBackwardOptions<T, G>,
  ): Promise<SdpaGradients<T, G>>;
}
