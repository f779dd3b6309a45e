import { Tensor } from '@tilewise/core';
import { type Attributes, Graph, type GraphDType, type LogicalTensor } from '@tilewise/graph';

/** Inputs that are the same in every run, by tensor id: tensors, and numbers that the host reads. */
export type Constants = ReadonlyMap<number, Tensor | number>;

/** A graph under construction, written as expressions: an operation gives its result. */
export class GraphWriter {
  readonly graph: Graph = new Graph();
  readonly #constants = new Map<number, Tensor | number>();

  get constants(): Constants {
    return this.#constants;
  }

  input(shape: readonly number[], name: string, dtype: GraphDType = 'f32'): LogicalTensor {
    return this.graph.tensor({ name, dtype, shape });
  }

  /** A number that the host knows when the graph runs. */
  scalar(name: string, dtype: 'f32' | 'i64' = 'f32'): LogicalTensor {
    return this.graph.tensor({ name, dtype, shape: [], property: 'host_scalar' });
  }

  /** A scalar that is the same in every run, for attention: the host reads it there. */
  number(value: number): LogicalTensor {
    const t = this.scalar(`${value}`);
    this.#constants.set(t.id, value);
    return t;
  }

  /** A tensor, or a scalar, that is the same in every run. */
  constant(value: Tensor | number, name = `${value}`): LogicalTensor {
    const tensor = typeof value === 'number' ? Tensor.from([value], []) : value;
    const t = this.input(tensor.shape, name, tensor.dtype);
    this.#constants.set(t.id, tensor);
    return t;
  }

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

  /** SoftMax along the last dimension; with `stats`, these are a result: max + ln Σ e^(x − max). */
  softmax(scores: LogicalTensor, { stats }: { readonly stats: boolean }): LogicalTensor {
    const outputs = (stats ? [0, 1] : [0]).map(() => this.graph.tensor({ dtype: 'f32' }));
    this.graph.add({ kind: 'SoftMax', attrs: { axis: -1 }, inputs: [scores], outputs });
    return outputs[0];
  }

  /** Makes a tensor a result although other operations read it. */
  result(tensor: LogicalTensor): LogicalTensor {
    this.graph.op('End', { inputs: [tensor], outputs: [] });
    return tensor;
  }
}
