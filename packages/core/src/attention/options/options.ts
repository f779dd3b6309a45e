import type { DropoutSchemeName } from '@tilewise/philox';
import type { Mod } from '../../expr/mods/mod.ts';
import type { BlockScaleLayout } from '../../mxfp8/block-scales.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { FormatP, Fp8ScalarName } from '../problem/fp8.ts';
import type { Mxfp8Tensors } from '../problem/mxfp8.ts';
import type { Alignment, GradientName, RaggedName } from '../problem/problem.ts';

/**
 * The keys that a query may see around its diagonal key, **excluding** the diagonal key (FlashAttention's
 * counting; cuDNN's `left_bound` is `left + 1`). An omitted side is unbounded.
 */
export interface Window {
  /** The number of keys before the diagonal key. */
  readonly left?: number | undefined;
  /** The number of keys after the diagonal key. */
  readonly right?: number | undefined;
  /**
   * The corner that the diagonal starts from, for `alibi` too. Default: that of `causal` if given, else
   * top-left.
   */
  readonly align?: Alignment | undefined;
}

/** Dropout drawn from Philox. The backward pass draws the same mask again. */
export interface PhiloxDropout {
  /** The probability that a weight is dropped, in [0, 1). */
  readonly p: number;
  /** 64-bit. */
  readonly seed: bigint | number;
  /** 64-bit, default 0; the scheme defines its unit. */
  readonly offset?: bigint | number | undefined;
  /** The library whose masks are drawn, see `@tilewise/philox`. Default `'torch-efficient'`. */
  readonly scheme?: DropoutSchemeName | undefined;
}

/** Dropout by a given mask. */
export interface MaskDropout<T> {
  /** bool (or u8), broadcastable to (B, Hq, Sq, Skv); 1 = keep. */
  readonly mask: T;
  /** The factor that multiplies the kept probabilities. Default 1 / (1 − p). */
  readonly scale?: number | undefined;
  /** The probability that the mask was drawn with; it decides the default of `scale`. Default 0. */
  readonly p?: number | undefined;
}

/**
 * cuDNN's FP8 contract: each of q, k, v, o, dO, P and dS is stored in 8 bits as its value times a scale. Each
 * scalar is a number or an f32 tensor of one element, which may be on the device; default 1. With this option
 * (even as `{}`) the products with v, dO, k and q take P and dS rounded to q's dtype, to nearest even and
 * saturating:
 *
 *     S    = scale · descaleQ · descaleK · q·kᵀ            P8  = cast(dropout(P) · scaleS)
 *     O32  = descaleS · descaleV · P8·v                    o   = cast(O32 · scaleO)
 *     δ    = descaleDO · descaleO · rowsum(dO∘o)           dP  = descaleDO · descaleV · dO·vᵀ
 *     dS   = scale · P∘(dP − δ)                            dS8 = cast(dS · scaleDP)
 *     dV32 = descaleS · descaleDO · P8ᵀ·dO                 dv  = cast(dV32 · scaleDV)
 *     dQ32 = descaleDP · descaleK · dS8·k                  dq  = cast(dQ32 · scaleDQ)
 *     dK32 = descaleDP · descaleQ · dS8ᵀ·q                 dk  = cast(dK32 · scaleDK)
 *
 * P is the normalised probability. A uniform row of n keys has P = 1/n, which scaleS must lift into the range
 * of the format. The gradients of bias, sink, slopes and captured tensors are not scaled, and no step on the
 * way to them is rounded.
 */
export type Fp8Options<T = Tensor> = Readonly<Partial<Record<Fp8ScalarName, number | T | undefined>>> & {
  /** The format that P is rounded to instead of q's dtype, which may then be any float. Forward only. */
  readonly formatP?: FormatP | undefined;
};

/**
 * cuDNN's MXFP8: operands in 8 bits with a power of two for every 32 neighbours along the axis that their
 * product sums over (`quantiseMxfp8` makes them). q and k are quantised along channels, v along positions.
 * With m the largest score of a row:
 *
 *     P8 = cast(16 · dropout(e^(S − m))) / 16       o = P8·v / Σ e^(S − m)                         forward
 *     P8 = cast(256 · dropout(e^(S − lse))) / 256   dv = P8ᵀ·dOT     dP = dO8·vᵀ                   backward
 *     dS = scale · P∘(dP − rowsum(dO∘o))            dq = blocks(dS)·kT     dk = blocks(dSᵀ)·qT
 *
 * where blocks(dS) is quantised along keys and blocks(dSᵀ) along queries. Backward also takes q, k and dO
 * quantised along positions (`qT`, `kT`, `dOT`, in the shapes of q, k and dO, contiguous) and dO quantised
 * along channels (`dO8`); its own `o` and `dO` are not quantised. Scales are u8 (E8M0), contiguous.
 */
export type Mxfp8Options<T = Tensor> = Readonly<Record<'descaleQ' | 'descaleK' | 'descaleV', T>> &
  Mxfp8Tensors<T> & {
    /** The layout of all scales. Default `'rows'`. */
    readonly layout?: BlockScaleLayout | undefined;
  };

/**
 * All options of attention. `T` is the tensor type of the engine: `Tensor` on the host, `GpuTensor` on
 * WebGPU, which also accepts host tensors.
 *
 * Order of operations on a score: q·k → scale → scoreMod → softcap → bias → alibi → masks (mask, padding,
 * causal, window, blockMask, maskMod) → softmax with optional sink → dropout → ·v.
 */
export interface SdpaOptions<T = Tensor> {
  /** The factor that multiplies q·k; any finite number. Default 1/√Dqk. */
  readonly scale?: number | undefined;
  /**
   * `true` is top-left (PyTorch): query i sees keys ≤ i. `'bottom-right'` aligns the last query with the last
   * key.
   */
  readonly causal?: boolean | Alignment | undefined;
  /** The keys that a query may see around its diagonal key. Default: all keys that `causal` shows. */
  readonly window?: Window | undefined;
  /** bool (or u8), broadcastable to (B, Hq, Sq, Skv); 1 = visible. */
  readonly mask?: T | undefined;
  /**
   * Float, broadcastable to (B, Hq, Sq, Skv), added to the score. −Infinity masks; a large negative finite
   * number does not: if all keys of a row have one, they share the row. As scores and `lse` are f32 (on the
   * reference, `lse` alone), the row's weights and gradients then lose accuracy below about −1e5; at −1e9 the
   * weights are equal, and the gradients too large by a factor of the number of keys.
   * f8e5m2 holds −Infinity only if it was made with `overflow: 'ieee'`, f8e4m3 not at all.
   */
  readonly bias?: T | undefined;
  /**
   * Adds −slope[h]·|i + off − j|. `true`: the standard slopes for any head count; otherwise the slopes, f32
   * (Hq).
   */
  readonly alibi?: boolean | readonly number[] | T | undefined;
  /** c from 1e-30 to 1e30: score ← c·tanh(score / c). */
  readonly softcap?: number | undefined;
  /** An expression of (score, b, h, q, kv) that replaces the score. */
  readonly scoreMod?: Mod<T> | undefined;
  /** A boolean expression of (b, h, q, kv); true = visible. */
  readonly maskMod?: Mod<T> | undefined;
  /**
   * u8 (1|B, 1|Hq, ⌈Sq/128⌉, ⌈⌈Skv/128⌉/8⌉): bit j (least significant first) of byte c stands for key tile 8c
   * + j; 1 = compute.
   */
  readonly blockMask?: T | undefined;
  /** f32 (Hq): a logit that joins the softmax of each of the head's rows but has no value. */
  readonly sink?: readonly number[] | T | undefined;
  /** i32 or u32 (B): only the first n queries of each sequence exist; the rows beyond get o = 0, lse = −∞. */
  readonly seqLensQ?: readonly number[] | T | undefined;
  /** i32 or u32 (B): only the first n keys of each sequence may be seen. */
  readonly seqLensKv?: readonly number[] | T | undefined;
  /**
   * i32 or u32 (B + 1), first 0, non-decreasing: where sequences start in the packed tensors (T, H, D) of
   * that side, and how long they are; with `seqLens*`, only the first n tokens of each are used. For dense
   * tensors only the lengths count.
   */
  readonly cuSeqLensQ?: readonly number[] | T | undefined;
  /** As `cuSeqLensQ`, for the sequences of k and v. */
  readonly cuSeqLensKv?: readonly number[] | T | undefined;
  /**
   * Where sequences start in a tensor (T, H, D) that is not packed by the cumulative lengths of its side;
   * each tensor has its own offsets. Lengths come from `seqLens*` or `cuSeqLens*`.
   */
  readonly raggedOffsets?: RaggedOffsets<T> | undefined;
  /** The longest packed or ragged sequence. Default: computed from the lengths, if they are on the host. */
  readonly maxSeqLenQ?: number | undefined;
  /**
   * The longest sequence of keys; with page tables, the capacity that is addressed (default: pages × page
   * size).
   */
  readonly maxSeqLenKv?: number | undefined;
  /**
   * i32 or u32 (B, pages): k is (blocks, Hk, pageSize, Dqk), and position s of sequence b is in block
   * table[b, ⌊s / pageSize⌋].
   */
  readonly pageTableK?: T | undefined;
  /** As `pageTableK`, for v (blocks, Hv, pageSize, Dv). */
  readonly pageTableV?: T | undefined;
  /**
   * i32 or u32 (B + 1), first 0, non-decreasing: the page table is packed, of rank 1, and the pages of
   * sequence b are its entries from cuPages[b] to cuPages[b + 1] (cuDNN's ragged offset of a page table).
   */
  readonly cuPagesK?: readonly number[] | T | undefined;
  /** As `cuPagesK`, for the page table of v. */
  readonly cuPagesV?: readonly number[] | T | undefined;
  /** Dropout of the probabilities, by a mask that is drawn or given. Default: none. */
  readonly dropout?: PhiloxDropout | MaskDropout<T> | undefined;
  /** Results besides o and lse. */
  readonly outputs?: OutputSelection | undefined;
  /** The dtype of o. Default: that of q. */
  readonly outDType?: DType | undefined;
  /**
   * Scales of 8-bit tensors, with products in 8 bits. q must then be f8e4m3 or f8e5m2, unless `formatP` gives
   * the format that P is rounded to.
   */
  readonly fp8?: Fp8Options<T> | undefined;
  /**
   * Scales of blocks of 32 neighbours. q, k and v must then be f8e4m3 or f8e5m2 (B, H, S, D); outDType is
   * bf16 by default.
   */
  readonly mxfp8?: Mxfp8Options<T> | undefined;
}

/**
 * i32 or u32 (B + 1) offsets in elements from the tensor's start, non-decreasing: element (b, h, s, d) is at
 * offsets[b] + h·sh + s·ss + d·sd (cuDNN's ragged offset). There may be gaps of any content between
 * sequences.
 */
export type RaggedOffsets<T = Tensor, N extends RaggedName = 'q' | 'k' | 'v' | 'o'> = Readonly<
  Partial<Record<N, readonly number[] | T | undefined>>
>;

/**
 * Optional results: f32 (B, Hq, Sq) `max` and `sumExp`; u8 (B, Hq, Sq, Skv) `dropoutMask`, 1 = kept; the
 * largest magnitudes (amax) of FP8.
 */
export interface OutputSelection {
  /** The largest score of each row, or its sink if that is larger. */
  readonly max?: boolean | undefined;
  /** The sum of e^(score − max) of each row, with the sink. */
  readonly sumExp?: boolean | undefined;
  /** Which probabilities were kept. */
  readonly dropoutMask?: boolean | undefined;
  /** With `fp8`: f32 (1), the largest dropout(P), before scaleS. */
  readonly amaxS?: boolean | undefined;
  /** With `fp8` or `mxfp8`: f32 (1), the largest |O32|, before scaleO. */
  readonly amaxO?: boolean | undefined;
  /** With `fp8` or `mxfp8`: f32 (1), the largest |dQ32| of backward, before scaleDQ. */
  readonly amaxDQ?: boolean | undefined;
  /** With `fp8` or `mxfp8`: f32 (1), the largest |dK32| of backward, before scaleDK. */
  readonly amaxDK?: boolean | undefined;
  /** With `fp8` or `mxfp8`: f32 (1), the largest |dV32| of backward, before scaleDV. */
  readonly amaxDV?: boolean | undefined;
  /** With `fp8` or `mxfp8`: f32 (1), the largest |dS| of backward, before scaleDP. cuDNN calls it amax_dP. */
  readonly amaxDP?: boolean | undefined;
}

/** The options of the forward call, and which gradients to compute. */
export interface SdpaBackwardOptions<T = Tensor, G extends GradientName = GradientName>
  extends SdpaOptions<T> {
  /** The offsets of the forward call, and those of dO and the gradients. */
  readonly raggedOffsets?: RaggedOffsets<T, RaggedName> | undefined;
  /**
   * Default: dq, dk, dv, and the gradients of bias, sink and alibi slopes that were given as tensors or
   * arrays.
   */
  readonly gradients?: readonly G[] | undefined;
  /** The dtype of dq, dk and dv. Default: that of q, k and v respectively. */
  readonly gradDType?: DType | undefined;
}

/** q, k and v of a forward call: each is (B, H, S, D) with any strides, or packed or ragged (T, H, D). */
export interface ForwardInputs<T> {
  /** Queries (B, Hq, Sq, Dqk). */
  readonly q: T;
  /** Keys (B, Hk, Skv, Dqk). */
  readonly k: T;
  /** Values (B, Hv, Skv, Dv). */
  readonly v: T;
}

/**
 * The inputs of backward: the inputs and results of forward, and the gradients of the loss with respect to o
 * and (optionally) lse.
 */
export interface BackwardInputs<T> extends ForwardInputs<T> {
  /** The result of forward. */
  readonly o: T;
  /** f32, natural logarithm: (Hq, T) when q is packed by its cumulative lengths, else (B, Hq, Sq). */
  readonly lse: T;
  /** The gradient with respect to o, in the shape of o. */
  readonly dO: T;
  /** The gradient with respect to lse, in the shape of lse. Default 0. */
  readonly dLse?: T | undefined;
}
