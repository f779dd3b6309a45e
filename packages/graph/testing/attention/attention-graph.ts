import { Tensor } from '@tilewise/core';
import { Graph } from '../../src/graph.ts';
import type { Attributes } from '../../src/ir/schema/attribute.ts';
import type { GraphDType } from '../../src/ir/tensor/dtype.ts';
import { type LogicalTensor, UNKNOWN } from '../../src/ir/tensor/logical-tensor.ts';

/** A graph under construction, together with the numbers of its inputs. */
export class GraphBuilder {
  readonly graph = new Graph();
  readonly bindings: Record<number, Tensor | number | bigint> = {};
  readonly #says: 'known' | 'unknown' | 'rankless';

  /**
   * @param says what the graph declares about the shapes of inputs: everything, only their rank, or nothing.
   */
  constructor(says: 'known' | 'unknown' | 'rankless' = 'known') {
    this.#says = says;
  }

  /** The shapes of the inputs, by their ids. */
  shapes(): ReadonlyMap<number, readonly number[]> {
    const bound = Object.entries(this.bindings);
    return new Map(
      bound.flatMap(([id, t]) => (typeof t === 'object' ? [[Number(id), t.shape] as const] : [])),
    );
  }

  /** An input filled with the given numbers, or with numbers of a fixed sequence in (−1, 1). */
  input(
    shape: readonly number[],
    options: { dtype?: GraphDType; values?: ArrayLike<number> } = {},
  ): LogicalTensor {
    const { dtype = 'f32' } = options;
    const said = { known: shape, unknown: shape.map(() => UNKNOWN), rankless: null }[this.#says];
    const t = this.graph.tensor({ dtype, shape: said });
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
    attrs: Attributes = {},
    dtype: GraphDType = 'f32',
  ): LogicalTensor {
    const output = this.graph.tensor({ dtype });
    this.graph.add({ kind, attrs, inputs, outputs: [output] });
    return output;
  }

  /** SoftMax along the last dimension, with its stats. */
  softmax(scores: LogicalTensor): [probabilities: LogicalTensor, stats: LogicalTensor] {
    const outputs: [LogicalTensor, LogicalTensor] = [
      this.graph.tensor({ dtype: 'f32' }),
      this.graph.tensor({ dtype: 'f32' }),
    ];
    this.graph.op('SoftMax', { attrs: { axis: -1, mode: 'inf_as_zero' }, inputs: [scores], outputs });
    return outputs;
  }
}
