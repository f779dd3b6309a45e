import type { Graph } from '../../../graph.ts';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { backwardScalars, forwardScalars } from './fp8-scalars.ts';

/**
 * How a node is written: as several operations that are later recognised as attention (`composite`), or as
 * one operation (`unified`). `auto` means `unified`, which supports all arguments. oneDNN and ONNX support
 * the operations of composite nodes.
 */
export type Implementation = 'auto' | 'composite' | 'unified';

/**
 * A score program. It adds elementwise operations and GenIndex (axis 2 = query, 3 = key) to a separate graph,
 * applies them to a score (B, Hq, Sq, Skv), and returns the new score. Tensors of the node's graph may be
 * operands.
 */
export type ScoreProgram = (graph: Graph, score: LogicalTensor) => LogicalTensor;

/**
 * Dropout, either by Philox with 64-bit scalars as seed and offset, or by a bool or u8 mask (1 = keep) that
 * broadcasts to (B, Hq, Sq, Skv) and a scale. cuDNN takes masks of the dtype of q: cast them first.
 */
export type DropoutArgument<T, N> = readonly [p: number, seed: N, offset: N] | readonly [mask: T, scale: N];

/**
 * The arguments that all of cuDNN's attention nodes share. `T` is the type of tensors, and `N` the type of
 * numbers that may be tensors. cuDNN's deprecated names have equivalents: `use_causal_mask` is a right bound
 * of 0, `use_causal_mask_bottom_right` is a right bound of 0 with the alignment `bottom-right`,
 * `sliding_window_length` is the left bound, and `is_inference` is the opposite of `generateStats`. cuDNN's
 * options that choose among its kernels (`compute_data_type`, `unfuse_fma`, `softmax_precision`) do not exist
 * here: sums are f32.
 */
export interface AttentionArguments<T, N = T> {
  /** Queries (B, Hq, Sq, Dqk), with any strides; (T, Hq, Dqk) with `raggedOffsets` or `cuSeqLenQ`. */
  readonly q: T;
  /** Keys (B, Hk, Skv, Dqk), with any strides; (T, Hk, Dqk) with `raggedOffsets` or `cuSeqLenKv`. */
  readonly k: T;
  /** Values (B, Hv, Skv, Dv), with any strides; (T, Hv, Dv) with `raggedOffsets` or `cuSeqLenKv`. */
  readonly v: T;
  /** The factor of q·kᵀ. Default: 1, as in cuDNN (the default of `sdpa` in `@tilewise/core` is 1/√Dqk). */
  readonly attnScale?: number | N | undefined;
  /**
   * Hides the keys and queries beyond the lengths. Needs `seqLenQ` and `seqLenKv`, or their cumulative forms.
   */
  readonly usePaddingMask?: boolean | undefined;
  /** i32 (B, 1, 1, 1): the number of queries of each sequence. */
  readonly seqLenQ?: T | undefined;
  /** i32 (B, 1, 1, 1): the number of keys of each sequence. */
  readonly seqLenKv?: T | undefined;
  /** i32 (B + 1, 1, 1, 1): the cumulative numbers of queries, from 0. */
  readonly cuSeqLenQ?: T | undefined;
  /** i32 (B + 1, 1, 1, 1): the cumulative numbers of keys, from 0. */
  readonly cuSeqLenKv?: T | undefined;
  /** cuDNN's ragged offset of each tensor: i32 (B + 1, 1, 1, 1), in elements. */
  readonly raggedOffsets?:
    | Readonly<Partial<Record<'q' | 'k' | 'v' | 'o' | 'dO' | 'dq' | 'dk' | 'dv', T | undefined>>>
    | undefined;
  /** The number of queries of the longest packed sequence; cuDNN takes it from the dimensions instead. */
  readonly maxSeqLenQ?: number | undefined;
  /** The number of keys of the longest packed sequence; cuDNN takes it from the dimensions instead. */
  readonly maxSeqLenKv?: number | undefined;
  /** The corner that the diagonal of the bounds is anchored to. Default: `'top-left'`. */
  readonly diagonalAlignment?: 'top-left' | 'bottom-right' | undefined;
  /** The number of visible keys left of the diagonal, **including** the diagonal key; ≥ 1. */
  readonly diagonalBandLeftBound?: number | undefined;
  /** The number of visible keys right of the diagonal, excluding the diagonal key; 0 is causal. */
  readonly diagonalBandRightBound?: number | undefined;
  /** Dropout of the probabilities. Default: none. */
  readonly dropout?: DropoutArgument<T, N> | undefined;
  /** f32 (1, Hq, 1, 1): a logit that takes part in each row's softmax but has no value. */
  readonly sinkToken?: T | undefined;
  /** The name of the node in errors and exports. Default: none. */
  readonly name?: string | undefined;
  /** How the node is written. Default: `auto`. */
  readonly implementation?: Implementation | undefined;
}

/** The arguments that `sdpa` and `sdpaBackward` have in addition. */
export interface ScoreArguments<T> {
  /** Broadcastable to (B, Hq, Sq, Skv), added to the scaled score. */
  readonly bias?: T | undefined;
  /** Adds slope[h]·(key − query) with the standard slopes. */
  readonly useAlibiMask?: boolean | undefined;
  /** Changes the scaled score before the bias is added. Default: none. */
  readonly scoreMod?: ScoreProgram | undefined;
}

/** The arguments of `sdpa`. */
export interface SdpaArguments<T = LogicalTensor, N = T> extends AttentionArguments<T, N>, ScoreArguments<T> {
  /**
   * u8 (B, Hq, ⌈Sq/128⌉, ⌈⌈Skv/128⌉/8⌉): bit j of byte c stands for key tile 8c + j; tiles with a 1 are
   * computed.
   */
  readonly blockMask?: T | undefined;
  /** i32 (B, 1, pages, 1): the page table of k, which is then a container (blocks, Hk, pageSize, Dqk). */
  readonly pagedAttentionKTable?: T | undefined;
  /** i32 (B, 1, pages, 1): the page table of v, which is then a container (blocks, Hv, pageSize, Dv). */
  readonly pagedAttentionVTable?: T | undefined;
  /** The number of keys that the page tables address. Default: pages × page size. */
  readonly pagedAttentionMaxSeqLenKv?: number | undefined;
  /**
   * Adds the result `stats`, f32 (B, Hq, Sq, 1): the log-sum-exp, as a natural logarithm or, with
   * `statsUseLog2`, to base 2.
   */
  readonly generateStats?: boolean | undefined;
  /** Whether `stats` is to base 2. Default: false. */
  readonly statsUseLog2?: boolean | undefined;
  /** Adds the result `scoreMax`, f32 (B, Hq, Sq, 1): the largest score of each row. */
  readonly scoreMax?: boolean | undefined;
  /** Adds the result `scoreSumExp`, f32 (B, Hq, Sq, 1): Σ e^(score − largest score) of each row. */
  readonly scoreSumExp?: boolean | undefined;
  /** Adds the result f32 (B, Hq, Sq, Skv): 1 where dropout keeps the score. */
  readonly rngDump?: boolean | undefined;
  /** The dtype of o. Default: that of q. */
  readonly oDType?: GraphDType | undefined;
}

/** The arguments of `sdpaBackward`. Gradients have the dtypes of q, k and v. */
export interface SdpaBackwardArguments<T = LogicalTensor, N = T>
  extends AttentionArguments<T, N>,
    ScoreArguments<T> {
  /** The result of `sdpa`. */
  readonly o: T;
  /** The gradient with respect to o, in its shape. */
  readonly dO: T;
  /** `stats` of `sdpa` as a natural logarithm: f32 (B, Hq, Sq, 1). */
  readonly stats: T;
  /** Adds the gradient of `bias`, in its shape and dtype, to the results. */
  readonly dBias?: boolean | undefined;
  /** Adds the gradient of `sinkToken` to the results. */
  readonly dSinkToken?: boolean | undefined;
  /** Accepted, but without effect: results never depend on the order of execution. */
  readonly useDeterministicAlgorithm?: boolean | undefined;
}

/**
 * The arguments of `sdpaFp8`. Its scalars are f32 (1, 1, 1, 1): a descale multiplies values after they are
 * read, a scale multiplies values before they are rounded.
 */
export interface SdpaFp8Arguments<T = LogicalTensor, N = T>
  extends AttentionArguments<T, N>,
    Readonly<Record<(typeof forwardScalars)[number], T>> {
  /** Adds the result `stats`, f32 (B, Hq, Sq, 1): the log-sum-exp as a natural logarithm. */
  readonly generateStats?: boolean | undefined;
  /** The dtype of o. Default: that of q. */
  readonly oDType?: GraphDType | undefined;
}

/** The arguments of `sdpaFp8Backward`. */
export interface SdpaFp8BackwardArguments<T = LogicalTensor, N = T>
  extends AttentionArguments<T, N>,
    Readonly<Record<(typeof backwardScalars)[number], T>> {
  /** The result of `sdpaFp8`. */
  readonly o: T;
  /** The gradient with respect to o, in its shape. */
  readonly dO: T;
  /** `stats` of `sdpaFp8`: f32 (B, Hq, Sq, 1). */
  readonly stats: T;
  /** Adds the gradient of `sinkToken` to the results. Default: false. */
  readonly dSinkToken?: boolean | undefined;
  /** The dtype of dq, dk and dv. Default: that of q. */
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

/** Whether an argument that may be a number is a tensor. */
export function isTensor(x: unknown): x is LogicalTensor {
  return typeof x === 'object' && x !== null && 'dtype' in x;
}
