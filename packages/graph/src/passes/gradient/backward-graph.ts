import { sameShape } from '@tilewise/core';
import { InvalidGraphError } from '../../errors.ts';
import type { GraphWriter } from '../../ir/graph-builder.ts';
import type { GraphNode } from '../../ir/node.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import { exactJson } from '../../ir/schema/exact-json.ts';
import type { GradientBuilder } from '../../ir/schema/operation.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { transposeOrder } from '../../ops/layout/layout.ts';
import type { Composite } from './decomposed-softmax.ts';
import type { ForwardAttention } from './forward-attention.ts';

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
  readonly #target: GraphWriter;
  readonly #topology: Topology;
  readonly #given: { has(id: number): boolean };
  readonly #composites: ReadonlyMap<GraphNode, Composite>;
  readonly #attentions: ReadonlyMap<number, ForwardAttention>;
  /** The outputs of attention that are computed again, by the ids that they have in the forward graph. */
  readonly #outputs = new Map<number, LogicalTensor>();
  readonly #recomputed = new Map<number, LogicalTensor>();
  readonly #written = new Map<string, LogicalTensor>();

  /**
   * @param given ids of forward tensors that the backward graph gets as inputs.
   * @param composites what several operations of the forward graph are together.
   * @param attentions the attention of the forward graph that a backward pass is recognised for, by the ids of its output.
   */
  constructor(
    topology: Topology,
    target: GraphWriter,
    given: { has(id: number): boolean },
    composites: ReadonlyMap<GraphNode, Composite>,
    attentions: ReadonlyMap<number, ForwardAttention>,
  ) {
    this.#topology = topology;
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
    this.#target.add({ kind, attrs: attributes, inputs, outputs: [output] });
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
    this.#target.add({ kind, attrs: attributes, inputs, outputs });
    return outputs;
  }

  forward(tensor: LogicalTensor): LogicalTensor {
    const known = this.#recomputed.get(tensor.id);
    if (known) return known;
    const producer = this.#topology.producers.get(tensor.id);
    const recovered = this.recovered(tensor) ?? this.#outputOf(tensor);
    if (!producer || recovered) {
      const given = recovered ?? { ...tensor, shape: this.#topology.shapeOf(tensor.id) };
      this.#recomputed.set(tensor.id, given);
      return given;
    }
    if (producer.outputs[0].id !== tensor.id || givesSeveral(producer)) this.#computeAll(producer);
    else this.#recomputed.set(tensor.id, this.#compute(producer));
    return this.forward(tensor);
  }

  /**
   * A forward tensor that is given, is an output of attention that was computed again, or lies otherwise in one of these; null for what
   * must be computed again.
   */
  recovered(tensor: LogicalTensor): LogicalTensor | null {
    const topology = this.#topology;
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
    return this.#given.has(tensor.id) || !this.#topology.producers.has(tensor.id);
  }

  /**
   * An output of attention, computed again by operations of its own: the gradient by it may take it, and a backward pass that had
   * operations in common with it would then have to run before and after that. Null for what is none.
   */
  #outputOf(tensor: LogicalTensor): LogicalTensor | null {
    const attention = this.#attentions.get(tensor.id);
    if (!attention) return null;
    const { nodes, output } = attention;
    const { producers } = this.#topology;
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
    const recomputed = (isFirst && operation.recompute?.(call, this)) || null;
    if (recomputed) return recomputed;
    const inputs = this.#inputsOf(node);
    const { firstOutput } = node.operation;
    const attributes = firstOutput && node.outputs.length > 1 ? firstOutput(node.attributes) : node.given;
    return this.op(node.kind, inputs, attributes, { dtype: node.outputs[0].dtype });
  }

  /** What an operation reads, in the dtypes that it had there: what is computed again in another way may be in f32. */
  #inputsOf({ inputs }: GraphNode): LogicalTensor[] {
    return inputs.map(t => this.cast(this.forward(t), t.dtype));
  }

  /** An operation with all that it gives. */
  #computeAll(node: GraphNode): void {
    const outputs = node.outputs.map(({ dtype }) => this.#target.tensor({ dtype }));
    const inputs = this.#inputsOf(node);
    this.#target.add({ kind: node.kind, attrs: node.given, inputs, outputs });
    node.outputs.forEach(({ id }, n) => {
      if (!this.#recomputed.has(id)) this.#recomputed.set(id, outputs[n]);
    });
  }

  shapeOf({ id }: LogicalTensor): readonly number[] {
    const shape = this.#topology.shapeOf(id);
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

/** Whether an operation cannot give its first result alone. */
function givesSeveral({ operation }: GraphNode): boolean {
  return operation.outputs.some(({ optional, variadic }, n) => variadic || (n > 0 && !optional));
}
