import { Tensor } from '@tilewise/core';
import { UnsupportedOperationError } from '../../../errors.ts';
import { describeNode } from '../../../ir/node.ts';
import { type GraphDType, storageDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalShape, LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../../ir/topology.ts';
import type { OnnxAttribute, OnnxInitializer, OnnxNode } from '../model.ts';

/**
 * ONNX's codes of element types. 4-bit integers become 8-bit integers in ONNX, because they are stored in
 * bytes.
 */
const elementTypes: Readonly<Partial<Record<GraphDType, number>>> = {
  ...{ f32: 1, f16: 10, bf16: 16, f8e4m3: 17, f8e5m2: 19 },
  ...{ u8: 2, i8: 3, i32: 6, i64: 7, bool: 9, u32: 12, i4: 3, u4: 2 },
};

/** ONNX's code of a dtype; undefined for a dtype that ONNX lacks. */
export function elementType(dtype: GraphDType): number | undefined {
  return elementTypes[dtype];
}

type NodeAttributes = Readonly<Record<string, OnnxAttribute>>;

/** Collects the nodes of a model, which refer to tensors by name. */
export class OnnxWriter {
  readonly nodes: OnnxNode[] = [];
  readonly initializers: OnnxInitializer[] = [];
  /** The graph's operation whose nodes are being written. */
  at: Parameters<typeof describeNode>[0] = { id: 0, kind: '', name: '' };
  readonly #topology: Topology;
  readonly #names: Readonly<Record<number, string>>;

  /** @param names the names of tensors by id, if not `tn`. */
  constructor(topology: Topology, names: Readonly<Record<number, string>> = {}) {
    this.#topology = topology;
    this.#names = names;
  }

  /** @throws UnsupportedOperationError naming the operation. */
  refuse(reason: string): never {
    throw new UnsupportedOperationError(describeNode(this.at), reason);
  }

  /** The rank of a tensor that the operation reads. */
  rankOf(tensor: LogicalTensor): number {
    return this.shapeOf(tensor)?.length ?? this.refuse('needs tensors of known rank to be exported to ONNX');
  }

  /** The name of a tensor of the graph. */
  name({ id }: LogicalTensor): string {
    return this.#names[id] ?? `t${id}`;
  }

  shapeOf({ id }: LogicalTensor): LogicalShape {
    return this.#topology.shapeOf(id);
  }

  /** Adds a node with one output and returns the output's name. */
  node(op: string, inputs: readonly string[], attributes: NodeAttributes = {}, output?: string): string {
    const result = output ?? this.#newName(op);
    this.several(op, inputs, attributes, [result]);
    return result;
  }

  /** Adds a node with named outputs. */
  several(
    op: string,
    inputs: readonly string[],
    attributes: NodeAttributes,
    outputs: readonly string[],
  ): void {
    this.nodes.push({ op, name: this.#newName(op), inputs, outputs, attributes });
  }

  #newName(op: string): string {
    return `${op}_${this.nodes.length}`;
  }

  /** Adds a node whose result, of dtype `dtype`, becomes a tensor of the graph. */
  give(
    output: LogicalTensor,
    dtype: GraphDType,
    op: string,
    inputs: readonly string[],
    attributes?: NodeAttributes,
  ): void {
    if (dtype === output.dtype) this.node(op, inputs, attributes, this.name(output));
    else this.cast(this.node(op, inputs, attributes), dtype, output.dtype, this.name(output));
  }

  /**
   * Casts a tensor to a dtype; returns the tensor itself if it has that dtype and no output name is given.
   */
  cast(name: string, from: GraphDType, to: GraphDType, output?: string): string {
    if (from !== to) return this.node('Cast', [name], { to: { int: elementTypes[to] ?? 0 } }, output);
    return output === undefined ? name : this.node('Identity', [name], {}, output);
  }

  /** A tensor of the graph in a dtype. */
  as(tensor: LogicalTensor, dtype: GraphDType): string {
    return this.cast(this.name(tensor), tensor.dtype, dtype);
  }

  /** Tensors of the graph in a dtype. */
  allAs(tensors: readonly LogicalTensor[], dtype: GraphDType): string[] {
    return tensors.map(t => this.as(t, dtype));
  }

  /** Adds an initializer: a scalar, or numbers in a shape. */
  numbers(values: readonly number[], dtype: GraphDType = 'f32', shape: readonly number[] = []): string {
    const tensor = Tensor.from(values, shape, { dtype: storageDType(dtype) });
    return this.#initializer(elementTypes[dtype] ?? 0, shape, bytesOf(tensor));
  }

  /** Makes an input of the graph a tensor in the model. */
  hold(input: LogicalTensor, tensor: Tensor): void {
    this.initializers.push({
      ...{ name: this.name(input), type: elementTypes[input.dtype] ?? 0 },
      ...{ shape: tensor.shape, data: bytesOf(tensor.contiguous()) },
    });
  }

  /** Adds an initializer of 64-bit integers, for shapes and axes; a single number is a scalar. */
  integers(values: number | readonly number[]): string {
    const list = typeof values === 'number' ? [values] : values;
    const data = BigInt64Array.from(list, BigInt);
    return this.#initializer(7, typeof values === 'number' ? [] : [list.length], new Uint8Array(data.buffer));
  }

  /** An i64 index clamped to [0, extent), and whether it was in that range already. */
  within(given: string, extent: string): { readonly index: string; readonly isInside: string } {
    const last = this.node('Sub', [extent, this.integers(1)]);
    const index = this.node('Clip', [given, this.integers(0), last]);
    return { index, isInside: this.node('Equal', [given, index]) };
  }

  #initializer(type: number, shape: readonly number[], data: Uint8Array): string {
    const name = `c${this.initializers.length}`;
    this.initializers.push({ name, type, shape, data });
    return name;
  }
}

const bytesOf = ({ data, offset, size }: Tensor): Uint8Array =>
  new Uint8Array(
    data.buffer,
    data.byteOffset + offset * data.BYTES_PER_ELEMENT,
    size * data.BYTES_PER_ELEMENT,
  );
