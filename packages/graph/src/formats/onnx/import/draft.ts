import { elementCount } from '@tilewise/core';
import { InvalidGraphError } from '../../../errors.ts';
import type { Graph } from '../../../graph.ts';
import { type GraphNode, neededNodes } from '../../../ir/node.ts';
import type { Attributes } from '../../../ir/schema/attribute.ts';
import { checkOperation } from '../../../ir/schema/check.ts';
import type { PortSchema } from '../../../ir/schema/ports.ts';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor, TensorProperty } from '../../../ir/tensor/logical-tensor.ts';
import { broadcastShapes, shapeOf } from '../../../ir/tensor/shape.ts';
import { operationOf } from '../../../ops/table.ts';
import { beforeReshapes } from './reshapes/before-reshapes.ts';

/** An operation that may become part of a graph. */
export type DraftNode = Pick<GraphNode, 'kind' | 'name' | 'given' | 'inputs' | 'outputs'>;

/** Whether a tensor has a float dtype that operations compute with. */
export const isFloat = ({ dtype }: { readonly dtype: GraphDType }): boolean =>
  ['f32', 'f16', 'bf16'].includes(dtype);

const ofIntegers: readonly GraphDType[] = ['i32', 'f32'];

/**
 * The dtypes that tensors are cast to for an operation that does not accept their own: i32 represents all
 * 8-bit integers, and f32 all 8-bit floats and integers up to 2^24.
 */
const carriers: Readonly<Partial<Record<GraphDType, readonly GraphDType[]>>> = {
  ...{ i32: ofIntegers, u32: ofIntegers, i8: ofIntegers, u8: ofIntegers, bool: ofIntegers },
  ...{ f8e4m3: ['f32'], f8e5m2: ['f32'] },
};

/** The dtype that a tensor has at the nth of some ports. */
function dtypeAt(ports: readonly PortSchema[], n: number, dtype: GraphDType): GraphDType {
  const among = ports[Math.min(n, ports.length - 1)]?.among ?? [];
  if (among.includes(dtype)) return dtype;
  return carriers[dtype]?.find(carrier => among.includes(carrier)) ?? dtype;
}

/**
 * Operations that may become part of a graph. The shape of each result is inferred immediately, because ONNX
 * operators depend on shapes; operations that no output needs are dropped.
 */
export class Draft {
  readonly #nodes: DraftNode[] = [];
  readonly #producers = new Map<number, DraftNode>();
  /** The results of reshapes, by the tensor and the shape: equal masks are then one tensor. */
  readonly #reshaped = new Map<string, LogicalTensor>();
  #next = 0;
  /** The model's node whose operations are being written: its label for errors, and its name. */
  at: { readonly label: string; readonly name: string } = { label: '', name: '' };

  tensor(
    dtype: GraphDType,
    shape: readonly number[],
    name = '',
    property: TensorProperty = 'undef',
  ): LogicalTensor {
    const id = this.#next++;
    return {
      id,
      ...(name && { name }),
      dtype,
      shape: [...shape],
      strides: null,
      layout: 'strided',
      property,
    };
  }

  /**
   * Adds an operation with one result.
   * @param dtype the dtype of the result. Default: that of the first input.
   */
  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    given: Attributes = {},
    dtype?: GraphDType,
  ): LogicalTensor {
    const [output] = this.ops(kind, inputs, given, [dtype ?? inputs[0]?.dtype ?? 'f32']);
    if (!output) throw new InvalidGraphError(`operation ${kind} has no result`);
    return output;
  }

  /** Adds an operation with one result for each dtype. */
  ops(
    kind: string,
    inputs: readonly LogicalTensor[],
    given: Attributes,
    dtypes: readonly GraphDType[],
  ): LogicalTensor[] {
    // No operation reshapes 8-bit floats.
    const own = dtypes[0]?.startsWith('f8') ? null : beforeReshapes(this, kind, inputs, given);
    if (!own) return this.#add(kind, inputs, given, dtypes);
    return this.ops(kind, own.inputs, own.given, dtypes).map(own.after);
  }

  /** Adds a comparison or logical operation, whose result is bool. */
  test(kind: string, ...inputs: readonly LogicalTensor[]): LogicalTensor {
    return this.op(kind, inputs, {}, 'bool');
  }

  /** Adds numbers that are stored in the graph: one for each element of the shape, or one for all. */
  inline(value: readonly number[], shape: readonly number[], dtype: GraphDType): LogicalTensor {
    return this.op('Constant', [], { value, shape }, dtype);
  }

  /** One number as a tensor of shape []. */
  scalar(value: number, dtype: GraphDType): LogicalTensor {
    return this.inline([value], [], dtype);
  }

  /** The elements of a tensor in row-major order with another shape. */
  reshape(tensor: LogicalTensor, shape: readonly number[]): LogicalTensor {
    if (`${shapeOf(tensor)}` === `${shape}`) return tensor;
    const before = this.producerOf(tensor);
    const [source] = before?.kind === 'StaticReshape' ? before.inputs : [];
    if (source) return this.reshape(source, shape);
    const key = `${tensor.id}: ${shape}`;
    const known =
      this.#reshaped.get(key) ?? this.op('StaticReshape', [tensor], { shape, special_zero: false });
    this.#reshaped.set(key, known);
    return known;
  }

  /**
   * A list with one number per channel, reshaped so that it broadcasts to (B, C, …) of `rank` dimensions, or
   * to (B) with its one channel.
   */
  channels(list: LogicalTensor, rank: number): LogicalTensor {
    return this.reshape(list, [
      elementCount(shapeOf(list)),
      ...new Array<number>(Math.max(0, rank - 2)).fill(1),
    ]);
  }

  /** A tensor expanded to a shape along its dimensions of extent 1. */
  expand(tensor: LogicalTensor, shape: readonly number[]): LogicalTensor {
    return `${shapeOf(tensor)}` === `${shape}` ? tensor : this.op('Expand', [tensor], { shape });
  }

  /** A tensor with its dimensions in another order. */
  transpose(tensor: LogicalTensor, order: readonly number[]): LogicalTensor {
    if (order.every((axis, d) => axis === d)) return tensor;
    return this.op('StaticTranspose', [tensor], { order });
  }

  /** The `size` elements start, start + step, … along an axis. */
  slice(
    tensor: LogicalTensor,
    { axis, start, size, step = 1 }: { axis: number; start: number; size: number; step?: number },
  ): LogicalTensor {
    if (start === 0 && step === 1 && size === shapeOf(tensor)[axis]) return tensor;
    return this.op('Slice', [tensor], { axis, start, size, step });
  }

  /** Tensors concatenated along an axis. */
  concat(parts: readonly LogicalTensor[], axis: number): LogicalTensor {
    return parts.length === 1 ? parts[0] : this.op('Concat', parts, { axis });
  }

  /** Elements of a where the condition is true, else of b; all three broadcast to each other. */
  select(condition: LogicalTensor, a: LogicalTensor, b: LogicalTensor): LogicalTensor {
    const shape = broadcastShapes(shapeOf(a), shapeOf(b));
    const whole = broadcastShapes(shape, shapeOf(condition));
    // Masks of attention are recognised by oneDNN's Select, which broadcasts only the condition and accepts
    // only floats.
    const isSelect = `${shape}` === `${whole}` && isFloat(a);
    return this.op(isSelect ? 'Select' : 'Where', [condition, a, b], {}, a.dtype);
  }

  /**
   * The values in another dtype: rounded to nearest even as floats, towards 0 as integers, and x ≠ 0 as bool.
   */
  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor {
    if (tensor.dtype === dtype) return tensor;
    // 16-bit floats are converted through f32.
    const both = [tensor.dtype, dtype];
    const goesByF32 = !both.includes('f32') && (both.includes('f16') || both.includes('bf16'));
    const source = goesByF32 ? this.cast(tensor, 'f32') : tensor;
    return this.op('TypeCast', [source], {}, dtype);
  }

  #add(
    kind: string,
    all: readonly LogicalTensor[],
    given: Attributes,
    dtypes: readonly GraphDType[],
  ): LogicalTensor[] {
    const operation = operationOf(kind);
    if (!operation) throw new InvalidGraphError(`there is no operation '${kind}'`);
    const inputs = all.map((tensor, n) => this.cast(tensor, dtypeAt(operation.inputs, n, tensor.dtype)));
    const open = dtypes.map((dtype, n) => ({
      ...this.tensor(dtypeAt(operation.outputs, n, dtype), []),
      shape: null,
    }));
    const label = `${kind} of ${this.at.label}`;
    const attributes = checkOperation(label, operation, given, inputs, open);
    const shapes = operation.infer({ attributes, inputs, outputs: open });
    const outputs = open.map((tensor, n) => ({ ...tensor, shape: shapes[n] ?? null }));
    const node = { kind, name: this.at.name, given, inputs, outputs };
    this.#nodes.push(node);
    for (const { id } of outputs) this.#producers.set(id, node);
    return outputs.map((tensor, n) => this.cast(tensor, dtypes[n] ?? tensor.dtype));
  }

  /** The operation that produces a tensor; undefined for an input. */
  producerOf({ id }: LogicalTensor): DraftNode | undefined {
    return this.#producers.get(id);
  }

  /**
   * Writes the operations that the outputs need into a graph, and finalizes the graph.
   * @param outputs the outputs of the graph. An output that an operation also reads, or that none computes,
   * gets its own `End`.
   */
  write(graph: Graph, outputs: readonly LogicalTensor[]): Graph {
    const nodes = neededNodes(
      this.#nodes,
      outputs.map(({ id }) => id),
    );
    const read = new Set(nodes.flatMap(({ inputs }) => inputs.map(({ id }) => id)));
    const produced = new Set(nodes.flatMap(node => node.outputs.map(({ id }) => id)));
    for (const node of nodes) {
      const { kind, name, given, inputs, outputs: results } = node;
      graph.add({ kind, attrs: given, inputs, outputs: results, name });
    }
    for (const tensor of outputs) {
      if (read.has(tensor.id) || !produced.has(tensor.id)) graph.op('End', { inputs: [tensor], outputs: [] });
    }
    return graph.finalize();
  }
}
