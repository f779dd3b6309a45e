import { sameShape } from '@tilewise/core';
import { InvalidGraphError } from '../errors.ts';
import type { Graph } from '../graph/graph.ts';
import type { GraphNode } from '../graph/node.ts';
import { transposeOrder } from '../operations/layout.ts';
import { numbersOf } from '../schema/attribute.ts';
import { exactJson } from '../schema/exact-json.ts';
import type { Attributes } from '../schema/operation.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../tensor/logical-tensor.ts';
import type { ForwardAttention } from './forward-attention.ts';
import type { Composite } from './written-softmax.ts';

/** What a gradient is written with: tensors of the backward graph. */
export interface GradientBuilder {
  /** A new operation with one output; its dtype is that of its first input unless said otherwise. */
  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes?: Attributes,
    options?: { readonly dtype?: GraphDType },
  ): LogicalTensor;
  /** A new operation with an output of each of some dtypes. */
  ops(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes: Attributes,
    dtypes: readonly GraphDType[],
  ): readonly LogicalTensor[];
  /** A tensor of the forward graph as the backward graph has it: given, or computed again. */
  forward(tensor: LogicalTensor): LogicalTensor;
  /** Whether the backward graph gets a forward tensor as an input. */
  isGiven(tensor: LogicalTensor): boolean;
  /** The extents of a forward tensor. */
  shapeOf(tensor: LogicalTensor): readonly number[];
  /** A gradient summed over what its tensor was broadcast to; both shapes are known. */
  reduceTo(gradient: LogicalTensor, from: readonly number[], to: readonly number[]): LogicalTensor;
  /** A tensor in another dtype. */
  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
}

/** The attributes of the same operation that undoes one that only moves what it is given, of a shape. */
const layoutInverses: Readonly<Record<string, (node: GraphNode, shape: readonly number[]) => Attributes>> = {
  StaticReshape: (_, shape) => ({ shape, special_zero: false }),
  StaticTranspose: ({ attributes }, shape) => {
    const order = transposeOrder(numbersOf(attributes, 'order'), shape.length);
    return { order: order.map((_, d) => order.indexOf(d)) };
  },
  Reorder: () => ({}),
};

/** Writes into a graph of gradients, each operation of the forward graph at most once. */
export class BackwardGraph implements GradientBuilder {
  readonly #target: Graph;
  readonly #source: Graph;
  readonly #given: ReadonlySet<number>;
  readonly #composites: ReadonlyMap<GraphNode, Composite>;
  readonly #attentions: ReadonlyMap<number, ForwardAttention>;
  /** The outputs of attention that are computed again, by the ids that they have in the forward graph. */
  readonly #outputs = new Map<number, LogicalTensor>();
  readonly #again = new Map<number, LogicalTensor>();
  readonly #written = new Map<string, LogicalTensor>();

  /**
   * @param given ids of forward tensors that the backward graph gets as inputs.
   * @param composites what several operations of the forward graph are together.
   * @param attentions the attention of the forward graph that a backward pass is recognised for, by the ids of its output.
   */
  constructor(
    source: Graph,
    target: Graph,
    given: ReadonlySet<number>,
    composites: ReadonlyMap<GraphNode, Composite>,
    attentions: ReadonlyMap<number, ForwardAttention>,
  ) {
    this.#source = source;
    this.#target = target;
    this.#given = given;
    this.#composites = composites;
    this.#attentions = attentions;
  }

  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes: Attributes = {},
    { dtype = inputs[0].dtype }: { readonly dtype?: GraphDType } = {},
  ): LogicalTensor {
    // The same operation on the same tensors is built once.
    const key = exactJson([kind, inputs.map(t => t.id), attributes, dtype]);
    const known = this.#written.get(key);
    if (known) return known;
    const output = this.#target.tensor({ dtype });
    this.#target.op(kind, { attrs: attributes, inputs, outputs: [output] });
    this.#written.set(key, output);
    return output;
  }

  ops(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes: Attributes,
    dtypes: readonly GraphDType[],
  ): readonly LogicalTensor[] {
    const outputs = dtypes.map(dtype => this.#target.tensor({ dtype }));
    this.#target.op(kind, { attrs: attributes, inputs, outputs });
    return outputs;
  }

  forward(tensor: LogicalTensor): LogicalTensor {
    const known = this.#again.get(tensor.id);
    if (known) return known;
    const producer = this.#source.topology.producers.get(tensor.id);
    const recovered = this.recovered(tensor) ?? this.#outputOf(tensor);
    if (!producer || recovered) {
      const given = recovered ?? { ...tensor, shape: this.#source.topology.shapeOf(tensor.id) };
      this.#again.set(tensor.id, given);
      return given;
    }
    if (producer.outputs[0].id !== tensor.id) this.#computeAll(producer);
    else this.#again.set(tensor.id, this.#compute(producer));
    return this.forward(tensor);
  }

  /**
   * A forward tensor that is given, is an output of attention that was computed again, or lies otherwise in one of these; null for what
   * must be computed again.
   */
  recovered(tensor: LogicalTensor): LogicalTensor | null {
    const { topology } = this.#source;
    if (this.isGiven(tensor)) return { ...tensor, shape: topology.shapeOf(tensor.id) };
    const output = this.#outputs.get(tensor.id);
    if (output) return output;
    for (const { node } of topology.uses(tensor.id)) {
      const inverse = layoutInverses[node.kind];
      if (!inverse || !isKnown(topology.shapeOf(tensor.id))) continue;
      const moved = this.recovered(node.outputs[0]);
      if (moved) return this.op(node.kind, [moved], inverse(node, this.shapeOf(tensor)));
    }
    return null;
  }

  isGiven(tensor: LogicalTensor): boolean {
    return this.#given.has(tensor.id) || !this.#source.topology.producers.has(tensor.id);
  }

  /**
   * An output of attention, computed again by operations of its own: the gradient by it may take it, and a backward pass that had
   * operations in common with it would then have to run before and after that. Null for what is none.
   */
  #outputOf(tensor: LogicalTensor): LogicalTensor | null {
    const attention = this.#attentions.get(tensor.id);
    if (!attention) return null;
    const { nodes, output } = attention;
    const { producers } = this.#source.topology;
    const copies = new Map<number, LogicalTensor>();
    const copyOf = (t: LogicalTensor): LogicalTensor => {
      const known = copies.get(t.id);
      if (known) return known;
      const node = producers.get(t.id);
      const other = this.#attentions.get(t.id) ?? attention;
      // Other results of an operation are none of its copy: the stats of a softmax are given.
      const isFirst = node?.outputs[0].id === t.id;
      if (!isFirst || !nodes.has(node) || other !== attention) return this.cast(this.forward(t), t.dtype);
      const [copy] = this.ops(node.kind, node.inputs.map(copyOf), node.given, [t.dtype]);
      copies.set(t.id, copy);
      return copy;
    };
    this.#outputs.set(output.id, copyOf(output));
    return this.recovered(tensor);
  }

  #compute(node: GraphNode): LogicalTensor {
    const { operation, call } = this.#composites.get(node) ?? { operation: node.operation, call: node };
    const isFirst = call.outputs[0].id === node.outputs[0].id;
    const again = (isFirst && operation.again?.(call, this)) || null;
    if (again) return again;
    const inputs = this.#inputsOf(node);
    return this.op(node.kind, inputs, node.given, { dtype: node.outputs[0].dtype });
  }

  /** What an operation reads, in the dtypes that it had there: what is computed again in another way may be in f32. */
  #inputsOf({ inputs }: GraphNode): LogicalTensor[] {
    return inputs.map(t => this.cast(this.forward(t), t.dtype));
  }

  /** An operation with all that it gives. */
  #computeAll(node: GraphNode): void {
    const outputs = node.outputs.map(({ dtype }) => this.#target.tensor({ dtype }));
    const inputs = this.#inputsOf(node);
    this.#target.op(node.kind, { attrs: node.given, inputs, outputs });
    node.outputs.forEach(({ id }, n) => {
      if (!this.#again.has(id)) this.#again.set(id, outputs[n]);
    });
  }

  shapeOf({ id }: LogicalTensor): readonly number[] {
    const shape = this.#source.topology.shapeOf(id);
    if (!isKnown(shape))
      throw new InvalidGraphError(`the shape of tensor ${id} must be known for its gradient`);
    return shape;
  }

  reduceTo(gradient: LogicalTensor, from: readonly number[], to: readonly number[]): LogicalTensor {
    if (sameShape(from, to)) return gradient;
    const lead = from.length - to.length;
    const axes = from.flatMap((n, d) => (d < lead || (to[d - lead] === 1 && n !== 1) ? [d] : []));
    const summed = axes.length === 0 ? gradient : this.op('ReduceSum', [gradient], { axes, keep_dims: true });
    return lead === 0 ? summed : this.op('StaticReshape', [summed], { shape: to, special_zero: false });
  }

  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor {
    if (tensor.dtype === dtype) return tensor;
    const isDirect = tensor.dtype === 'f32' || dtype === 'f32';
    return this.op('TypeCast', [isDirect ? tensor : this.cast(tensor, 'f32')], {}, { dtype });
  }
}
