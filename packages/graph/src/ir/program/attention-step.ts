import type { DType, Expr, FormatP } from '@tilewise/core';
import type { AttentionCallStep } from './attention-call.ts';

/**
 * A number that is known only when the step runs: a product of scalar values and inverses of scalar values.
 */
export interface ScalarProduct {
  readonly factors: readonly { readonly value: number; readonly inverse: boolean }[];
}

/**
 * Dropout whose numbers are known only when the step runs: values for seed and offset (i64 as two u32), and p
 * as an f32 value or a number.
 */
export interface StepDropout {
  readonly seed: number;
  readonly offset: number;
  readonly p: number | { readonly value: number };
}

/** Rounds P / `scale` to 8 bits around `zeroPoint`, then multiplies by `descale`. */
export interface StepRounding extends Required<FormatP> {
  readonly scale: number;
  readonly descale: number;
  /** The value of a factor of P, of shape (1). If it is given, `scale` is 1. */
  readonly factor?: number;
}

/** An expression of (score, b, h, q, kv), and the values of its captures by name. */
export interface StepMod {
  readonly expr: Expr;
  readonly captures: Readonly<Record<string, number>>;
}

/** Query i sees the keys j ≤ i + offset. The offset is a sum of scalar values, some of them negated. */
export interface StepDiagonal {
  readonly offset: readonly { readonly value: number; readonly negative: boolean }[];
}

/** The stages of a score, as options of an attention call. */
export interface ScoreOptions {
  readonly scale: ScalarProduct;
  readonly softcap?: ScalarProduct;
  readonly bias?: number;
  readonly mask?: number;
  readonly diagonal?: StepDiagonal;
  readonly maskMod?: StepMod;
  /**
   * The scalars that masked scores are set to. The options are equivalent only if all these scalars are −∞.
   */
  readonly fills: readonly number[];
  /** Whether scores are scaled after masking. Masked scores then stay −∞ only if the scale is positive. */
  readonly scaledAfterMask: boolean;
}

/**
 * The options of an attention call, with values in place of tensors. `options` are options that kernels run
 * fast; if they are null, or the bound scalars contradict them, `scoreMod` is used instead.
 */
export interface StepOptions {
  readonly options: ScoreOptions | null;
  readonly scoreMod: StepMod;
  /**
   * Whether the operations are attention only if `options` apply, as in a backward pass that assumes masked
   * scores of −∞. If `options` then do not apply, the operations run one by one.
   */
  readonly optionsOnly?: boolean;
  /** Pairs of scalars that must be equal for the operations to be attention. */
  readonly equal?: readonly (readonly [number, number])[];
  /**
   * A bias of zeros, used together with `scoreMod`: the gradient of this bias is the gradient of the scores.
   */
  readonly zeroBias?: number;
  readonly dropout?: StepDropout;
  /** Only in forward steps. */
  readonly rounding?: StepRounding;
}

/** What attention forward and backward have in common; q, k and v are values of shape (B, H, S, D). */
interface AttentionOperands {
  readonly q: number;
  readonly k: number;
  readonly v: number;
  readonly options: StepOptions;
}

/** Attention forward on the engine's kernels. */
export interface SdpaStep extends AttentionOperands {
  readonly kind: 'sdpa';
  readonly outDType: DType;
  /**
   * The values of the results. lse, max and sumExp are (B, H, S); amaxS (1) is the largest rounded
   * probability.
   */
  readonly results: Readonly<Partial<Record<'o' | 'lse' | 'max' | 'sumExp' | 'amaxS', number>>>;
  /** The value that holds the scalar list of FP8 kernels, if the step uses these kernels. */
  readonly fp8List?: number;
}

/** Attention backward on the engine's kernels; o and dO are values of shape (B, H, S, D) too. */
export interface SdpaBackwardStep extends AttentionOperands {
  readonly kind: 'sdpa-backward';
  readonly o: number;
  readonly lse: number;
  readonly dO: number;
  readonly results: Readonly<Partial<Record<'dq' | 'dk' | 'dv' | 'dbias', number>>>;
}

/** A step that is attention. */
export type AttentionStep = SdpaStep | SdpaBackwardStep | AttentionCallStep;
