import type { Alignment, DType, Expr } from '@tilewise/core';

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

/** The options of an attention call with values in place of tensors. */
export interface StepOptions {
  /** Absent: 1, as nothing in a graph scales by itself. */
  readonly scale?: ScalarProduct;
  readonly causal?: Alignment;
  readonly bias?: number;
  readonly mask?: number;
  readonly softcap?: ScalarProduct;
  readonly scoreMod?: { readonly expr: Expr; readonly captures: Readonly<Record<string, number>> };
  readonly dropout?: StepDropout;
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
      /** Values that the results are copied to; lse is (B, H, S). */
      readonly results: { readonly o?: number; readonly lse?: number };
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
