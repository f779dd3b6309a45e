import type { Tensor, TensorDesc } from '@tilewise/core';
import type { Primitive } from '@tilewise/core/primitive';
import type { AttentionCallStep } from './attention-call.ts';
import type { AttentionStep } from './attention-step.ts';

/** Where the tensor of a value comes from. */
export type ProgramValue =
  /** Bound by the caller, by the id of the logical tensor. */
  | { readonly kind: 'input' | 'output'; readonly tensor: number; readonly desc: TensorDesc }
  /** Lives during an execution. */
  | { readonly kind: 'temporary'; readonly desc: TensorDesc }
  | { readonly kind: 'constant'; readonly data: Tensor; readonly desc: TensorDesc }
  /** The memory of another value under another shape. */
  | { readonly kind: 'view'; readonly of: number; readonly desc: TensorDesc };

/** A primitive on values, by their index. */
export interface PrimitiveStep {
  readonly kind: 'primitive';
  readonly primitive: Primitive;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** What is run, in order. */
export type Step = PrimitiveStep | AttentionStep | AttentionCallStep;

/** What a partition computes, as data: the values it knows and the steps that fill them. */
export interface Program {
  readonly values: readonly ProgramValue[];
  readonly steps: readonly Step[];
}
