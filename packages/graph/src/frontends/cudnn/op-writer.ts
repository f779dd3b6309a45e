import type { Graph } from '../../graph.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import type { LogicalShape, LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

/** Adds operations with one result each to a graph. */
export interface OpWriter {
  readonly graph: Graph;
  /** @param shape the shape of the result, if it must be known before the graph is finalized. */
  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attrs?: Attributes,
    dtype?: GraphDType,
    shape?: LogicalShape,
  ): LogicalTensor;
  /** A constant: one number, or several numbers in a shape. */
  constant(
    value: number | readonly number[],
    options?: { dtype?: 'f32' | 'i32'; shape?: readonly number[] },
  ): LogicalTensor;
  reshape(tensor: LogicalTensor, shape: readonly number[]): LogicalTensor;
  /** The tensor in a dtype; the tensor itself if it already has that dtype. */
  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
}

/** Creates a writer that starts the name of each operation with `name`. */
export function opWriter(graph: Graph, name = ''): OpWriter {
  let count = 0;
  const op: OpWriter['op'] = (kind, inputs, attrs = {}, dtype = 'f32', shape = null) => {
    const output = graph.tensor({ dtype, shape });
    const named = name ? { name: `${name}/${count++}` } : {};
    graph.add({ kind, attrs, inputs, outputs: [output], ...named });
    return output;
  };
  return {
    graph,
    op,
    constant: (value, { dtype = 'f32', shape = [] } = {}) => {
      const attrs = { value: typeof value === 'number' ? [value] : value, shape };
      return op('Constant', [], attrs, dtype, shape);
    },
    reshape: (tensor, shape) => op('StaticReshape', [tensor], { shape, special_zero: false }, tensor.dtype),
    cast: (tensor, dtype) => (tensor.dtype === dtype ? tensor : op('TypeCast', [tensor], {}, dtype)),
  };
}
