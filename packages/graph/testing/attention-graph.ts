import { Tensor } from '@tilewise/core';
import { Graph } from '../src/graph/graph.ts';
import type { GraphDType } from '../src/tensor/dtype.ts';
import type { LogicalTensor } from '../src/tensor/logical-tensor.ts';

/** A graph under construction, the numbers of its inputs beside it. */
export class GraphBuilder {
  readonly graph = new Graph();
  readonly bindings: Record<number, Tensor | number | bigint> = {};

  /** An input filled with numbers of a fixed sequence in (−1, 1), or with what is given. */
  input(
    shape: readonly number[],
    options: { dtype?: GraphDType; values?: ArrayLike<number> } = {},
  ): LogicalTensor {
    const { dtype = 'f32' } = options;
    const t = this.graph.tensor({ dtype, shape });
    const count = shape.reduce((n, extent) => n * extent, 1);
    const values =
      options.values ?? Array.from({ length: count }, (_, n) => Math.sin(1.3 * n * n + 0.7 * t.id + n));
    this.bindings[t.id] = Tensor.from(values, shape, { dtype: dtype as 'f32' });
    return t;
  }

  /** A scalar that the host knows. */
  scalar(value: number | bigint, dtype: GraphDType = 'f32'): LogicalTensor {
    const t = this.graph.tensor({ dtype, shape: [], property: 'host_scalar' });
    this.bindings[t.id] = value;
    return t;
  }

  /** An operation with one output of unknown shape. */
  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attrs: Record<string, boolean | number | string | readonly number[]> = {},
    dtype: GraphDType = 'f32',
  ): LogicalTensor {
    const output = this.graph.tensor({ dtype });
    this.graph.op(kind, { attrs, inputs, outputs: [output] });
    return output;
  }

  /** SoftMax along the last dimension with its stats. */
  softmax(scores: LogicalTensor): [probabilities: LogicalTensor, stats: LogicalTensor] {
    const outputs: [LogicalTensor, LogicalTensor] = [
      this.graph.tensor({ dtype: 'f32' }),
      this.graph.tensor({ dtype: 'f32' }),
    ];
    this.graph.op('SoftMax', { attrs: { axis: -1, mode: 'inf_as_zero' }, inputs: [scores], outputs });
    return outputs;
  }
}
