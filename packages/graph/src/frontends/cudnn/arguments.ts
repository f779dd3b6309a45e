import type { Graph } from '../../graph.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { backwardScalars, forwardScalars } from './fp8-scalars.ts';

/**
 * How a node is written: as operations that are recognised as attention (`composite`), or as one operation
 * (`unified`). One operation expresses all arguments, so `auto` is unified; oneDNN and ONNX know the
 * operations of composite nodes.
 */
export type Implementation = 'auto' | 'composite' | 'unified';

/**
 * A score program: writes elementwise operations and GenIndex (axis 2 = query, 3 = key) on a score (B, Hq,
 * Sq, Skv) into a graph of its own, and returns the new score. Tensors of the node's graph may be operands.
 */
export type ScoreProgram = (graph: Graph, score: LogicalTensor) => LogicalTensor;

/**
 * Dropout by Philox with 64-bit scalars as seed and offset, or by a mask that broadcasts to (B, Hq, Sq, Skv)
 * and a factor.
 */
export type DropoutArgument<T, N> = readonly [p: number, seed: N, offset: N] | readonly [mask: T, scale: N];

/**
 * The arguments of all of cuDNN's attention nodes. `T` is the type of tensors, `N` the type of numbers that
 * may be tensors. cuDNN's deprecated names have equivalents: `use_causal_mask` is a right bound of 0,
 * `use_causal_mask_bottom_right` that with the alignment `bottom-right`, `sliding_window_length` the left
 * bound, `is_inference` the opposite of `generateStats`. cuDNN's choices among its kernels
 * (`compute_data_type`, `unfuse_fma`, `softmax_precision`) do not exist here: sums are f32.
 */
export interface AttentionArguments<T, N = T> {
  /**
   * (B, Hq, Sq, Dqk), (B, Hk, Skv, Dqk) and (B, Hv, Skv, Dv) with any strides; packed (T, H, D) with
   * `raggedOffsets` or `cuSeqLen*`.
   */
  readonly q: T;
  readonly k: T;
  readonly v: T;
  /** Factor of q·kᵀ. Default 1, as in cuDNN (`sdpa` of `@tilewise/core` has 1/√Dqk). */
  readonly attnScale?: number | N | undefined;
  /** Needs `seqLenQ` and `seqLenKv`, or their cumulative forms. */
  readonly usePaddingMask?: boolean | undefined;
  /** i32 (B, 1, 1, 1). */
  readonly seqLenQ?: T | undefined;
  readonly seqLenKv?: T | undefined;
  /** i32 (B + 1, 1, 1, 1). */
  readonly cuSeqLenQ?: T | undefined;
  readonly cuSeqLenKv?: T | undefined;
  /** i32 (B + 1, 1, 1, 1), in elements: cuDNN's ragged offset of each tensor. */
  readonly raggedOffsets?:
    | Readonly<Partial<Record<'q' | 'k' | 'v' | 'o' | 'dO' | 'dq' | 'dk' | 'dv', T | undefined>>>
    | undefined;
  /** The longest sequences of packed tensors, which cuDNN reads from their dimensions. */
  readonly maxSeqLenQ?: number | undefined;
  readonly maxSeqLenKv?: number | undefined;
  /** Where the diagonal of the bounds is anchored. Default `'top-left'`. */
  readonly diagonalAlignment?: 'top-left' | 'bottom-right' | undefined;
  /** Keys left of the diagonal that are seen, **with** the diagonal one; ≥ 1. */
  readonly diagonalBandLeftBound?: number | undefined;
  /** Keys right of the diagonal that are seen, without it; 0 is causal. */
  readonly diagonalBandRightBound?: number | undefined;
  readonly dropout?: DropoutArgument<T, N> | undefined;
  /** f32 (1, Hq, 1, 1): a logit that joins each row's softmax without a value. */
  readonly sinkToken?: T | undefined;
  readonly name?: string | undefined;
  readonly implementation?: Implementation | undefined;
}

/** The further arguments of `sdpa` and `sdpaBackward`. */
export interface ScoreArguments<T> {
  /** Broadcastable to (B, Hq, Sq, Skv), added to the scaled score. */
  readonly bias?: T | undefined;
  /** Adds slope[h]·(key − query) with the standard slopes. */
  readonly useAlibiMask?: boolean | undefined;
  readonly scoreMod?: ScoreProgram | undefined;
}

/** The arguments of `sdpa`. */
export interface SdpaArguments<T = LogicalTensor, N = T> extends AttentionArguments<T, N>, ScoreArguments<T> {
  /** u8 (B, Hq, ⌈Sq/128⌉, ⌈⌈Skv/128⌉/8⌉): bit j of byte c is key tile 8c + j; 1 = compute. */
  readonly blockMask?: T | undefined;
  /** i32 (B, 1, pages, 1): k is a container (blocks, Hk, pageSize, Dqk). */
  readonly pagedAttentionKTable?: T | undefined;
  readonly pagedAttentionVTable?: T | undefined;
  /** Keys that the page tables address. Default: pages × page size. */
  readonly pagedAttentionMaxSeqLenKv?: number | undefined;
  /** Adds the result `stats`: f32 (B, Hq, Sq, 1), natural logarithm, or with `statsUseLog2` to the base 2. */
  readonly generateStats?: boolean | undefined;
  readonly statsUseLog2?: boolean | undefined;
  /** f32 (B, Hq, Sq, 1): the largest score of each row, and Σ e^(score − largest). */
  readonly scoreMax?: boolean | undefined;
  readonly scoreSumExp?: boolean | undefined;
  /** f32 (B, Hq, Sq, Skv): 1 where dropout keeps. */
  readonly rngDump?: boolean | undefined;
  /** dtype of o. Default: that of q. */
  readonly oDType?: GraphDType | undefined;
}

/** The arguments of `sdpaBackward`. Gradients have the dtypes of q, k and v. */
export interface SdpaBackwardArguments<T = LogicalTensor, N = T>
  extends AttentionArguments<T, N>,
    ScoreArguments<T> {
  readonly o: T;
  readonly dO: T;
  /** f32 (B, Hq, Sq, 1), natural logarithm: `stats` of `sdpa`. */
  readonly stats: T;
  /** Whether the gradients by `bias` (in the shape and dtype of bias) and `sinkToken` are results. */
  readonly dBias?: boolean | undefined;
  readonly dSinkToken?: boolean | undefined;
  /** Accepted, and always so: results do not depend on the order of execution. */
  readonly useDeterministicAlgorithm?: boolean | undefined;
}

/**
 * f32 scalars (1, 1, 1, 1) of the FP8 nodes: a descale multiplies stored values, a scale divides before
 * storage.
 */
export interface SdpaFp8Arguments<T = LogicalTensor, N = T>
  extends AttentionArguments<T, N>,
    Readonly<Record<(typeof forwardScalars)[number], T>> {
  readonly generateStats?: boolean | undefined;
  /** dtype of o. Default: that of q. */
  readonly oDType?: GraphDType | undefined;
}

/** The arguments of `sdpaFp8Backward`. */
export interface SdpaFp8BackwardArguments<T = LogicalTensor, N = T>
  extends AttentionArguments<T, N>,
    Readonly<Record<(typeof backwardScalars)[number], T>> {
  readonly o: T;
  readonly dO: T;
  readonly stats: T;
  readonly dSinkToken?: boolean | undefined;
  /** dtype of dq, dk and dv. Default: that of q. */
  readonly gradDType?: GraphDType | undefined;
}

/** The arguments of any of the four nodes. */
export type AnyArguments<T, N = T> = AttentionArguments<T, N> &
  Partial<Omit<SdpaArguments<T, N>, keyof AttentionArguments<T, N>>> &
  Partial<Omit<SdpaBackwardArguments<T, N>, keyof AttentionArguments<T, N>>>;

const words = (text: string): readonly string[] => text.split(/\s+/);

const attentionNames = words(
  `name q k v attnScale usePaddingMask seqLenQ seqLenKv cuSeqLenQ cuSeqLenKv raggedOffsets maxSeqLenQ maxSeqLenKv
  diagonalAlignment diagonalBandLeftBound diagonalBandRightBound dropout sinkToken implementation`,
);

const scoreNames = words('bias useAlibiMask scoreMod');

/** The names of the arguments of each node. */
export const argumentNames: Readonly<
  Record<'sdpa' | 'sdpaBackward' | 'sdpaFp8' | 'sdpaFp8Backward', readonly string[]>
> = {
  sdpa: [
    ...[...attentionNames, ...scoreNames],
    ...words('blockMask pagedAttentionKTable pagedAttentionVTable pagedAttentionMaxSeqLenKv'),
    ...words('oDType generateStats statsUseLog2 scoreMax scoreSumExp rngDump'),
  ],
  sdpaBackward: [
    ...[...attentionNames, ...scoreNames],
    ...words('o dO stats dBias dSinkToken useDeterministicAlgorithm'),
  ],
  sdpaFp8: [...attentionNames, ...forwardScalars, ...words('generateStats oDType')],
  sdpaFp8Backward: [...[...attentionNames, ...backwardScalars], ...words('o dO stats dSinkToken gradDType')],
};
