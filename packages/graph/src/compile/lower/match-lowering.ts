import { elementCount, type Shape, sameShape, type TensorDesc } from '@tilewise/core';
import type { Value } from '../../ir/program/lowering.ts';
import type { ProgramBuilder } from '../../ir/program/program-builder.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { DropoutMatch } from '../../passes/attention/dropout.ts';

/** What a match writes its program with. */
export interface MatchLowering {
  readonly builder: ProgramBuilder;
  /** The value of a tensor that enters the match, or was written. */
  value(tensor: number): Value;
  /** The value that a tensor of the match is written to: what leaves it, or a temporary. */
  result(tensor: number): Value;
  /** A tensor of the match with its shape. */
  tensor(tensor: number): LogicalTensor;
  /** How a tensor of the match looks, also one that is never there. */
  desc(tensor: number): TensorDesc;
}

/** Whether operations were written as an attention call, or why not. */
export type Lowered = 'written' | { readonly reason: string };

/** Whether dropout is as attention has it: decided for every score by itself, with one factor for all. */
export function isPerScore(
  { result, decided, scale }: DropoutMatch,
  scores: Shape,
  { desc }: Pick<MatchLowering, 'desc'>,
): boolean {
  const isOne = scale === undefined || elementCount(desc(scale).shape) === 1;
  return isOne && [result, decided].every(t => sameShape(desc(t).shape, scores));
}
