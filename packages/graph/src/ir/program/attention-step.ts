import type { DType, Expr, FormatP } from '@tilewise/core';

/** A number that is known when the step runs: the product of scalar values, of some of them the inverse. */
export interface ScalarProduct {
  readonly factors: readonly { readonly value: number; readonly inverse: boolean }[];
}

/** Dropout whose numbers are known when the step runs: i64 seed and offset as two u32, f32 p, or p itself. */
export interface StepDropout {
  readonly seed: number;
  readonly offset: number;
  readonly p: number | { readonly value: number };
}

/** P / `scale` rounded to 8 bits around `zeroPoint`, and times `descale` again. */
export interface StepRounding extends Required<FormatP> {
  readonly scale: number;
  readonly descale: number;
  /** A value (1) that P is multiplied by before, where `scale` is 1. */
  readonly factor?: number;
}

/** An expression of (score, b, h, q, kv) and the values that it loads from, by name. */
export interface StepMod {
  readonly expr: Expr;
  readonly captures: Readonly<Record<string, number>>;
}

/** Query i sees the keys j ≤ i + the sum of scalar values, some of them subtracted. */
export interface StepDiagonal {
  readonly offset: readonly { readonly value: number; readonly negative: boolean }[];
}

/** What happens to a score, in the options of an attention call. */
export interface ScoreOptions {
  readonly scale: ScalarProduct;
  readonly softcap?: ScalarProduct;
  readonly bias?: number;
  readonly mask?: number;
  readonly diagonal?: StepDiagonal;
  readonly maskMod?: StepMod;
  /** Scalars that masked scores are set to: these options say the same only where they are −∞. */
  readonly fills: readonly number[];
  /** Whether a score is scaled after it was masked, which keeps −∞ only where the scale is positive. */
  readonly scaledAfterMask: boolean;
}

/**
 * The options of an attention call with values in place of tensors. `options` are those that kernels are fast with; where there
 * are none, or the scalars do not mean what they say, `scoreMod` is what happens to a score.
 */
export interface StepOptions {
  readonly options: ScoreOptions | null;
  readonly scoreMod: StepMod;
  /**
   * Whether the graph's operations are those of attention only where `options` say what its numbers mean, as those of a backward
   * pass that takes a masked score for one that is −∞. Where they do not, the operations run one by one.
   */
  readonly optionsOnly?: boolean;
  /** Pairs of scalars that must be the same for the operations to be those of attention. */
  readonly equal?: readonly (readonly [number, number])[];
  /** A bias of zeros beside `scoreMod`, for its gradient: that of the scores. */
  readonly zeroBias?: number;
  readonly dropout?: StepDropout;
  /** Of forward alone. */
  readonly rounding?: StepRounding;
}

/** Attention forward or backward on the kernels of the engine; q, k, v and the rest are values of shape (B, H, S, D). */
export type AttentionStep =
  | {
      readonly kind: 'sdpa';
      readonly q: number;
      readonly k: number;
      readonly v: number;
      readonly options: StepOptions;
      readonly outDType: DType;
      /** Values that the results are copied to; those but o are (B, H, S), and amaxS (1), the largest of what is rounded. */
      readonly results: {
        readonly o?: number;
        readonly lse?: number;
        readonly max?: number;
        readonly sumExp?: number;
        readonly amaxS?: number;
      };
      /** The list that kernels of 8-bit arithmetic read and write, where the step is for them. */
      readonly fp8List?: number;
    }
  | {
      readonly kind: 'sdpa-backward';
      readonly q: number;
      readonly k: number;
      readonly v: number;
      readonly o: number;
      readonly lse: number;
      readonly dO: number;
      readonly options: StepOptions;
      readonly results: {
        readonly dq?: number;
        readonly dk?: number;
        readonly dv?: number;
        readonly dbias?: number;
      };
    };
