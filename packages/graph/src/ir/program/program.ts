import type { Tensor, TensorDesc } from '@tilewise/core';
import type { Primitive } from '@tilewise/core/primitive';
import type { AttentionStep } from './attention-step.ts';

/** A tensor of a program, tagged with its origin. */
export type ProgramValue =
  /** Bound by the caller to the id of the logical tensor. */
  | { readonly kind: 'input' | 'output'; readonly tensor: number; readonly desc: TensorDesc }
  /** Memory that exists only during an execution. */
  | { readonly kind: 'temporary'; readonly desc: TensorDesc }
  | { readonly kind: 'constant'; readonly data: Tensor; readonly desc: TensorDesc }
  /** The memory of another value with another shape and strides, starting at element `offset` (default 0). */
  | { readonly kind: 'view'; readonly of: number; readonly desc: TensorDesc; readonly offset?: number };

/** The value that owns a value's memory. */
export function ownerOf(value: number, values: readonly ProgramValue[]): number {
  const own = values[value];
  return own.kind === 'view' ? own.of : value;
}

/** The values in each memory, by the value that owns the memory. */
export function valuesByOwner(values: readonly ProgramValue[]): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const n of values.keys()) {
    const owner = ownerOf(n, values);
    found.set(owner, (found.get(owner) ?? new Set()).add(n));
  }
  return found;
}

/** A primitive on values, which are given by index. */
export interface PrimitiveStep {
  readonly kind: 'primitive';
  readonly primitive: Primitive;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** A step of a program. */
export type Step = PrimitiveStep | AttentionStep;

/** The computation of a partition, as data: values, and the steps that write them in order. */
export interface Program {
  readonly values: readonly ProgramValue[];
  readonly steps: readonly Step[];
}
