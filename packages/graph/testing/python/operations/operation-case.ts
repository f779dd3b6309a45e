import type { LogicalTensor } from '../../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from '../../attention/attention-graph.ts';

/** Numbers that include ties, zeros and the edges of functions. */
export const edges = [-3, -1.5, -0.5, 0, 0, 0.25, 0.5, 1.5, 2.5, 3, 4, 0.5];
/** The magnitudes of the edges plus 0.3, so that all are above 0. */
export const positive = edges.map(x => Math.abs(x) + 0.3);

/** A labelled case; `build` adds it to a graph and returns the inputs whose gradients are compared. */
export type OperationCase = readonly [kind: string, build: (g: GraphBuilder) => readonly LogicalTensor[]];

/** An input of 3 × 4. */
export const x = (g: GraphBuilder, values: readonly number[] = edges): LogicalTensor =>
  g.input([3, 4], { values });

/** An operation on x. */
export const unary = (kind: string, attrs = {}, values = edges): OperationCase => [
  kind,
  g => {
    const src = x(g, values);
    g.op(kind, [src], attrs);
    return [src];
  },
];

/** An operation on x and a positive input of another shape. */
export const binary = (kind: string, shape: readonly number[] = [4]): OperationCase => [
  kind,
  g => {
    const count = shape.reduce((n, extent) => n * extent, 1);
    const [a, b] = [x(g), g.input(shape, { values: positive.slice(0, count) })];
    g.op(kind, [a, b]);
    return [a, b];
  },
];

/** An input of indices. */
export const indices = (
  g: GraphBuilder,
  shape: readonly number[],
  values: readonly number[],
): LogicalTensor => g.input(shape, { dtype: 'i32', values });

/** Booleans for the rows of x, and for the columns. */
export const conditions = (g: GraphBuilder): [LogicalTensor, LogicalTensor] => [
  g.input([3, 1], { dtype: 'bool', values: [1, 0, 1] }),
  g.input([1, 4], { dtype: 'bool', values: [1, 1, 0, 0] }),
];
