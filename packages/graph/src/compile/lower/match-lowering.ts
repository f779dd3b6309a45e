import { elementCount, type Shape, sameShape, type TensorDesc } from '@tilewise/core';
import type { Value } from '../../ir/program/lowering.ts';
import type { ProgramBuilder } from '../../ir/program/program-builder.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { DropoutMatch } from '../../passes/attention/dropout.ts';

/** The graph that a match is written into. */
export interface MatchLowering {
  readonly builder: ProgramBuilder;
  /** The value of a tensor that enters the match or has been written. */
  value(tensor: number): Value;
  /** The value to which a tensor of the match is written: an output, or a temporary. */
  result(tensor: number): Value;
  /** A tensor of the match with its shape. */
  tensor(tensor: number): LogicalTensor;
  /** The description of a tensor of the match, also of one that is never stored. */
  desc(tensor: number): TensorDesc;
}

/** Whether operations were written as an attention call, or why not. */
export type Lowered = 'written' | { readonly reason: string };

/** Whether dropout decides for every score on its own, with one factor for all, as attention does. */
export function isPerScore(
  { result, decided, scale }: DropoutMatch,
  scores: Shape,
  { desc }: Pick<MatchLowering, 'desc'>,
): boolean {
  const isOne = scale === undefined || elementCount(desc(scale).shape) === 1;
  return isOne && [result, decided].every(t => sameShape(desc(t).shape, scores));
}
