import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from '../attention/attention-graph.ts';
import type { Choices } from './choices.ts';

/** An f32 tensor of rank 2 or more, and its extents. */
export interface Known {
  readonly tensor: LogicalTensor;
  readonly shape: readonly number[];
}

/** Operations that compute another tensor from a tensor. */
export type Step = (g: GraphBuilder, choose: Choices, from: Known) => Known;

/** Maps a tensor to (−1, 1), so that nothing overflows. */
export const bounded = (g: GraphBuilder, x: LogicalTensor): LogicalTensor => g.op('Tanh', [x]);
/** Maps a tensor to (1/e, e). */
export const positive = (g: GraphBuilder, x: LogicalTensor): LogicalTensor => g.op('Exp', [bounded(g, x)]);
/**
 * Maps a tensor to integers in [−5, 5], which few bits represent, so that different rounding in two engines
 * does not look like a difference between graphs.
 */
export const whole = (g: GraphBuilder, x: LogicalTensor): LogicalTensor =>
  g.op('Round', [g.op('Multiply', [bounded(g, x), g.scalar(5)])]);

export const like = (g: GraphBuilder, choose: Choices, shape: readonly number[]): LogicalTensor =>
  g.input(shape.slice(choose.below(shape.length + 1)).map(n => (choose.below(2) ? n : 1)));
export const whereTo = (g: GraphBuilder, choose: Choices, count: number, below: number): LogicalTensor =>
  g.input([count], { dtype: 'i32', values: Array.from({ length: count }, () => choose.below(below)) });

export function withShape({ shape }: Known, tensor: LogicalTensor): Known {
  return { tensor, shape };
}
