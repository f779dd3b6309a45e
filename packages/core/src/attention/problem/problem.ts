import type { DropoutSchemeName, U64 } from '@tilewise/philox';
import type { Expr } from '../../expr/nodes/expr.ts';
import type { BlockScaleLayout } from '../../mxfp8/block-scales.ts';
import type { Mxfp8DType } from '../../mxfp8/quantise.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import type { FormatP, Fp8Scalars } from './fp8.ts';
import type { Mxfp8Tensors } from './mxfp8.ts';

/** Which corner of the Sq×Skv matrix the diagonal starts from; they differ when Sq ≠ Skv. */
export type Alignment = 'top-left' | 'bottom-right';

/**
 * The largest magnitudes that forward measures, of the probabilities and of o, for choosing the next scales.
 */
export type ForwardAmaxName = 'amaxS' | 'amaxO';
/**
 * The largest magnitudes that backward measures, of dq, dk and dv, and of dS, the gradient of the scores,
 * which has cuDNN's name `amaxDP`.
 */
export type BackwardAmaxName = 'amaxDQ' | 'amaxDK' | 'amaxDV' | 'amaxDP';

/** The gradients that backward can compute besides those of captured tensors. */
export type GradientName = 'dq' | 'dk' | 'dv' | 'dbias' | 'dsink' | 'dAlibi';

/** What determines where a sequence starts: the batch stride, the cumulative lengths, or ragged offsets. */
export type SequenceStarts = 'strided' | 'cumulative' | 'ragged';

/**
 * q, k, v, o or a gradient, always described as (B, H, S, D), each with its own layout. Strides are in
 * elements; dimensions of size 1 have stride 0, so that no index is ever multiplied by a caller's arbitrary
 * stride. Element (b, h, s, d) is at start(b) + h·sh + s·ss + d·sd, where start(b) depends on `starts`:
 *
 * - strided (dense): b·sb.
 * - cumulative (packed): cuSeqLens[b]·ss, of the operand's side.
 * - ragged: the operand's own raggedOffsets[b].
 *
 * A packed or ragged operand has the `shape` (1, H, T, D) for T tokens, and sb = 0. A paged operand is
 * strided: its `shape` is (blocks, H, pageSize, D), and `page` says how to find a position.
 */
export interface OperandDesc {
  /** How elements are stored. */
  readonly dtype: DType;
  /** (B, H, S, D). */
  readonly shape: readonly [number, number, number, number];
  /** Elements from one index to the next, for each dimension. */
  readonly strides: readonly [number, number, number, number];
  /** What determines where a sequence starts. */
  readonly starts: SequenceStarts;
  /** The pages of a paged operand. */
  readonly page: PageDesc | null;
}

/**
 * Position s of sequence b is row s mod size of block table[b, ⌊s / size⌋]. If the table is packed, of rank
 * 1, the block is table[cuPages[b] + ⌊s / size⌋].
 */
export interface PageDesc {
  /** The number of positions in a block. */
  readonly size: number;
  /** The block numbers, i32: (B, pages), or packed (pages). */
  readonly table: TensorDesc;
}

/**
 * A tensor broadcast to (B, Hq, Sq, Skv): stride 0 along broadcast dimensions; `source` is the tensor's own
 * shape.
 */
export interface BroadcastDesc {
  /** How elements are stored. */
  readonly dtype: DType;
  /** Elements from one index of (B, Hq, Sq, Skv) to the next; 0 along broadcast dimensions. */
  readonly strides: readonly [number, number, number, number];
  /** The tensor's own shape. */
  readonly source: readonly number[];
}

/**
 * The keys that may be seen: i + off − left ≤ j ≤ i + off + right; off = 0 (top-left) or Skv_b − Sq_b
 * (bottom-right); null = unbounded. ALiBi measures its distances with the same off; without a band, off is 0.
 */
export interface Band {
  /** How many keys before the diagonal key a query sees; null for all of them. */
  readonly left: number | null;
  /** How many keys after the diagonal key a query sees: 0 if causal, null for all of them. */
  readonly right: number | null;
  /** The corner that the diagonal starts from. */
  readonly align: Alignment;
}

/** Dropout of the probabilities. Kept probabilities are multiplied by `scale`. */
export type DropoutDesc =
  | {
      /** Philox draws the mask. */
      readonly kind: 'philox';
      /** The probability that a weight of the softmax is dropped, in [0, 1). */
      readonly p: number;
      /** The factor of kept weights. */
      readonly scale: number;
      /** The library whose masks are drawn. */
      readonly scheme: DropoutSchemeName;
      /** The seed of the random numbers. */
      readonly seed: U64;
      /** The position in the stream of random numbers. */
      readonly offset: U64;
    }
  | {
      /** The call brings the mask. */
      readonly kind: 'mask';
      /** The factor of kept weights. */
      readonly scale: number;
      /** The layout of the mask, in which 1 keeps a weight. */
      readonly mask: BroadcastDesc;
    };

/**
 * What determines each sequence's length: the whole extent, a length per batch entry, or cumulative lengths.
 */
export type LengthsKind = 'full' | 'lengths' | 'cumulative';

/**
 * The attention problem: everything that a call asks for, and nothing of its data. Plain and serialisable
 * (JSON). `normalise` makes it, `validate` checks it, and every engine accepts it.
 */
export interface AttentionProblem {
  /** The number of sequences. */
  readonly B: number;
  /** The number of query heads, a multiple of Hk and of Hv. */
  readonly Hq: number;
  /** The number of heads of k; Hq / Hk query heads share each (grouped-query attention). */
  readonly Hk: number;
  /** The number of heads of v. */
  readonly Hv: number;
  /** Queries per sequence; in packed or ragged problems, queries of the longest sequence. */
  readonly Sq: number;
  /**
   * Keys per sequence; in packed or ragged problems, keys of the longest sequence; in paged problems, the
   * addressed capacity.
   */
  readonly Skv: number;
  /** The head size of q and k. */
  readonly Dqk: number;
  /** The head size of v and o. */
  readonly Dv: number;
  /** The dtype and layout of the queries. */
  readonly q: OperandDesc;
  /** The dtype and layout of the keys. */
  readonly k: OperandDesc;
  /** The dtype and layout of the values. */
  readonly v: OperandDesc;
  /** The dtype and layout of the result. */
  readonly o: OperandDesc;
  /** What determines the number of queries of each sequence. */
  readonly lengthsQ: LengthsKind;
  /** What determines the number of keys of each sequence. */
  readonly lengthsKv: LengthsKind;
  /** The factor of q·k. */
  readonly scale: number;
  /** The expression that replaces a scaled score. */
  readonly scoreMod: Expr | null;
  /** c in c·tanh(score / c). */
  readonly softcap: number | null;
  /** The layout of the bias that is added to the scores. */
  readonly bias: BroadcastDesc | null;
  /** Whether −slope[h]·|i + off − j| is added; the slopes, f32 (Hq), are an operand. */
  readonly alibi: boolean;
  /** The layout of the boolean mask, which is true where a key is visible. */
  readonly mask: BroadcastDesc | null;
  /** The keys that a causal mask or a window shows. */
  readonly band: Band | null;
  /** The layout of the mask of 128 × 128 blocks, a bit for each. */
  readonly blockMask: BroadcastDesc | null;
  /** The expression that is true where a key is visible. */
  readonly maskMod: Expr | null;
  /** Tensors that scoreMod and maskMod load from, by name. */
  readonly captures: Readonly<Record<string, TensorDesc>>;
  /** Whether each softmax has a sink, a score without a value; the sinks, f32 (Hq), are an operand. */
  readonly sink: boolean;
  /** Dropout of the probabilities. */
  readonly dropout: DropoutDesc | null;
  /** The arithmetic in 8 bits, if any (see `Fp8Options`); its scalars are operands. */
  readonly fp8: Fp8Desc | null;
  /** Which results are wanted besides o and lse. */
  readonly outputs: {
    /** The largest score of each row. */
    readonly max: boolean;
    /** The sum of e^(score − max) of each row. */
    readonly sumExp: boolean;
    /** Which probabilities were kept. */
    readonly dropoutMask: boolean;
  } & Readonly<Record<ForwardAmaxName, boolean>>;
}

/**
 * Arithmetic in 8 bits, in which P and dS are rounded to q's dtype, or P to `formatP`. Operands have one
 * scale per tensor (`scaled`, see `Fp8Options`) or per block (`blocks`, see `Mxfp8Options`). An engine that
 * dequantises the operands of a problem with `blocks` continues with `dequantised`, which keeps their dtype.
 */
export type Fp8Desc =
  | { readonly kind: 'scaled'; readonly formatP?: FormatP }
  | { readonly kind: 'blocks'; readonly layout: BlockScaleLayout }
  | { readonly kind: 'dequantised'; readonly dtype: Mxfp8DType };

/** A backward problem: the forward problem, the layouts of the gradients, and which gradients are wanted. */
export interface BackwardProblem {
  /** The forward problem whose gradients are computed. */
  readonly forward: AttentionProblem;
  /** The dtype and layout of the gradient with respect to o. */
  readonly dO: OperandDesc;
  /** The dtype and layout of the gradient with respect to q. */
  readonly dq: OperandDesc;
  /** The dtype and layout of the gradient with respect to k. */
  readonly dk: OperandDesc;
  /** The dtype and layout of the gradient with respect to v. */
  readonly dv: OperandDesc;
  /** Whether a gradient of lse is given. */
  readonly dLse: boolean;
  /** The gradients that are wanted. */
  readonly gradients: readonly GradientName[];
  /** Which largest magnitudes of FP8 are wanted. */
  readonly outputs: Readonly<Record<BackwardAmaxName, boolean>>;
}

/** The operands that may have ragged offsets. */
export type RaggedName = 'q' | 'k' | 'v' | 'o' | 'dO' | 'dq' | 'dk' | 'dv';

/** The operands that are small lists, with one number per batch entry or head. */
export type ListName =
  | 'seqLensQ'
  | 'seqLensKv'
  | 'cuSeqLensQ'
  | 'cuSeqLensKv'
  | `raggedOffsets.${RaggedName}`
  | 'cuPagesK'
  | 'cuPagesV'
  | 'alibi'
  | 'sink';

/** The other operands that options give. */
export type TensorName = 'bias' | 'mask' | 'blockMask' | 'dropoutMask' | 'pageTableK' | 'pageTableV';

/**
 * The tensors of a problem, by the names that options, bindings and errors use; `operandTable` describes
 * each. `T` is the tensor type of the engine. Lists of numbers (lengths, slopes, sinks) are host tensors.
 */
export type Operands<T> = Readonly<Record<'q' | 'k' | 'v', T>> &
  Readonly<Partial<Record<ListName | TensorName, T>>> & {
    /** The tensors that a score mod or a mask mod loads from, by name. */
    readonly captures?: Readonly<Record<string, T>>;
    /** f32 of one element each. */
    readonly fp8?: Fp8Scalars<T>;
    /** Block scales, and the roundings of operands that only backward takes. */
    readonly mxfp8?: Mxfp8Tensors<T>;
  };

/** The tensors of a backward call, by name. */
export type BackwardOperands<T> = Operands<T> & {
  /** The result of forward. */
  readonly o: T;
  /** The lse of forward, f32: (Hq, T) when q is packed by its cumulative lengths, else (B, Hq, Sq). */
  readonly lse: T;
  /** The gradient with respect to o, in the shape of o. */
  readonly dO: T;
  /** The gradient with respect to lse, in the shape of lse. */
  readonly dLse?: T;
};
