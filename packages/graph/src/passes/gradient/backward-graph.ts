import { sameShape } from '@tilewise/core';
import { InvalidGraphError } from '../../errors.ts';
import type { GraphWriter } from '../../ir/graph-builder.ts';
import { type GraphNode, neededNodes } from '../../ir/node.ts';
import { type Attributes, numbersOf } from '../../ir/schema/attribute.ts';
import { exactJson } from '../../ir/schema/exact-json.ts';
import type { GradientBuilder } from '../../ir/schema/operation.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { inverseOrder } from '../../ops/layout/layout.ts';
import type { Composite } from './decomposed-softmax.ts';
import type { ForwardAttention } from './forward-attention.ts';

/**
 * For layout operations: the attributes with which the same operation undoes it, given the original shape.
 */
const layoutInverses: Readonly<Record<string, (node: GraphNode, shape: readonly number[]) => Attributes>> = {
  StaticReshape: (_, shape) => ({ shape, special_zero: false }),
  StaticTranspose: ({ attributes }, shape) => ({
    order: inverseOrder(numbersOf(attributes, 'order'), shape.length),
  }),
  Reorder: () => ({}),
};

/** Writes a backward graph, in which each forward operation is recomputed at most once. */
export class BackwardGraph implements GradientBuilder {
  readonly #target: GraphWriter;
  readonly #topology: Topology;
  readonly #given: { has(id: number): boolean };
  readonly #isForward: boolean;
  readonly #composites: ReadonlyMap<GraphNode, Composite>;
  readonly #attentions: ReadonlyMap<number, ForwardAttention>;
  /** Recomputed outputs of attention, by their forward ids. */
  readonly #outputs = new Map<number, LogicalTensor>();
  readonly #recomputed = new Map<number, LogicalTensor>();
  readonly #written = new Map<string, LogicalTensor>();

  /**
   * @param target the graph that operations are written to.
   * @param isForward whether `target` is the forward graph itself.
   * @param given the ids of forward tensors that are inputs of the backward graph.
   * @param composites groups of forward operations that are differentiated together.
   * @param attentions forward attention whose backward pass is recognised, by the ids of its output.
   */
  constructor(
    topology: Topology,
    { target, isForward = false }: { readonly target: GraphWriter; readonly isForward?: boolean },
    given: { has(id: number): boolean },
    composites: ReadonlyMap<GraphNode, Composite>,
    attentions: ReadonlyMap<number, ForwardAttention>,
  ) {
    this.#topology = topology;
    this.#target = target;
    this.#isForward = isForward;
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
    // Equal operations on equal tensors are written only once.
    const key = exactJson([kind, inputs.map(t => t.id), attributes, dtype]);
    const known = this.#written.get(key);
    if (known) return known;
    const [output] = this.ops(kind, inputs, attributes, [dtype]);
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
    // An explicit stack, because a chain of recomputed operations may be longer than the call stack allows.
    const open = [tensor];
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const missing = this.#recomputed.has(top.id) ? [] : this.#neededFor(top);
      if (missing.length === 0) {
        this.#place(top);
        open.pop();
      } else open.push(...missing);
    }
    return this.#place(tensor);
  }

  /** The forward tensors that must be placed before `tensor`. */
  #neededFor(tensor: LogicalTensor): readonly LogicalTensor[] {
    const producer = this.#topology.producers.get(tensor.id);
    if (!producer || this.recovered(tensor)) return [];
    const attention = this.#attentions.get(tensor.id);
    const nodes = attention?.nodes ?? new Set([producer]);
    const { operation, call } = this.#callOf(producer);
    const isRecomputed = operation.recompute && call.outputs.slice(1).some(t => this.isGiven(t));
    const inputs = isRecomputed && !attention ? call.inputs : [...nodes].flatMap(node => [...node.inputs]);
    return inputs.filter(t => {
      const source = this.#topology.producers.get(t.id);
      return !this.#recomputed.has(t.id) && !(source && nodes.has(source));
    });
  }

  /** Places a forward tensor in this graph, which already contains the tensors that it needs. */
  #place(tensor: LogicalTensor): LogicalTensor {
    const known = this.#recomputed.get(tensor.id);
    if (known) return known;
    const producer = this.#topology.producers.get(tensor.id);
    const recovered = this.recovered(tensor) ?? this.#outputOf(tensor);
    if (!producer || recovered) {
      const given = recovered ?? this.#asGiven(tensor);
      this.#recomputed.set(tensor.id, given);
      return given;
    }
    // The backward pass of attention reads lse: one operation recomputes lse and the output.
    const readsLse = producer.given.results === 'o lse' && !this.isGiven(producer.outputs[1]);
    const needsAll = givesSeveral(producer) || readsLse;
    if (producer.outputs[0].id !== tensor.id || needsAll) this.#computeAll(producer);
    else this.#recomputed.set(tensor.id, this.#compute(producer));
    return this.#place(tensor);
  }

  /**
   * A forward tensor that is given, is a recomputed output of attention, or has the same elements as one of
   * these in another layout; null for a tensor that must be recomputed.
   */
  recovered(tensor: LogicalTensor): LogicalTensor | null {
    // Layout operations that start at the tensor, each with the step before it.
    type Step = { readonly tensor: LogicalTensor; readonly node?: GraphNode; readonly from?: Step };
    const steps: Step[] = [{ tensor }];
    for (const step of steps) {
      const { id } = step.tensor;
      const given = this.isGiven(step.tensor) ? this.#asGiven(step.tensor) : this.#outputs.get(id);
      if (given) {
        let moved = given;
        for (let at: Step = step; at.node && at.from; at = at.from) {
          const inverse = layoutInverses[at.node.kind](at.node, this.shapeOf(at.from.tensor));
          moved = this.op(at.node.kind, [moved], inverse);
        }
        return moved;
      }
      if (!isKnown(this.#topology.shapeOf(id))) continue;
      for (const { node } of this.#topology.uses(id))
        if (Object.hasOwn(layoutInverses, node.kind))
          steps.push({ tensor: node.outputs[0], node, from: step });
    }
    return null;
  }

  /** The description of a forward tensor in this graph: with its shape, which an input must have. */
  #asGiven(tensor: LogicalTensor): LogicalTensor {
    return this.#isForward ? tensor : { ...tensor, shape: this.#topology.shapeOf(tensor.id) };
  }

  isGiven(tensor: LogicalTensor): boolean {
    return this.#given.has(tensor.id) || this.isInput(tensor);
  }

  isInput({ id }: LogicalTensor): boolean {
    return !this.#topology.producers.has(id);
  }

  /**
   * An output of attention, recomputed by separate operations. If a backward pass shared operations with it,
   * the pass would have to run both before and after the gradients that read the output. Null for any other
   * tensor.
   */
  #outputOf(tensor: LogicalTensor): LogicalTensor | null {
    const attention = this.#attentions.get(tensor.id);
    if (!attention) return null;
    const { nodes, output } = attention;
    const members = this.#topology.order.filter(node => nodes.has(node));
    const copies = new Map<number, LogicalTensor>();
    const copyOf = (t: LogicalTensor): LogicalTensor =>
      copies.get(t.id) ?? this.cast(this.forward(t), t.dtype);
    for (const node of neededNodes(members, [output.id])) {
      const [first] = node.outputs;
      // Only first outputs are recomputed, because the stats of a softmax are given.
      if ((this.#attentions.get(first.id) ?? attention) !== attention) continue;
      const [copy] = this.ops(node.kind, node.inputs.map(copyOf), node.given, [first.dtype]);
      copies.set(first.id, copy);
    }
    this.#outputs.set(output.id, copyOf(output));
    return this.recovered(tensor);
  }

  /** The operation and the call of a node: its own, or those of the composite that contains the node. */
  #callOf(node: GraphNode): Pick<Composite, 'operation' | 'call'> {
    return this.#composites.get(node) ?? { operation: node.operation, call: node };
  }

  #compute(node: GraphNode): LogicalTensor {
    const { operation, call } = this.#callOf(node);
    const isFirst = call.outputs[0].id === node.outputs[0].id;
    const recomputed = (isFirst && operation.recompute?.(call, this)) || null;
    if (recomputed) return recomputed;
    const inputs = this.#inputsOf(node);
    const { firstOutput } = node.operation;
    const attributes = firstOutput && node.outputs.length > 1 ? firstOutput(node.attributes) : node.given;
    return this.op(node.kind, inputs, attributes, { dtype: node.outputs[0].dtype });
  }

  /** The inputs of an operation in their forward dtypes, because recomputed tensors may be f32. */
  #inputsOf({ inputs }: GraphNode): LogicalTensor[] {
    return inputs.map(t => this.cast(this.forward(t), t.dtype));
  }

  /** Recomputes all outputs of an operation. */
  #computeAll(node: GraphNode): void {
    const dtypes = node.outputs.map(({ dtype }) => dtype);
    const outputs = this.ops(node.kind, this.#inputsOf(node), node.given, dtypes);
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
    return lead === 0 ? summed : this.reshape(summed, to);
  }

  reshape(tensor: LogicalTensor, shape: readonly number[]): LogicalTensor {
    return this.op('StaticReshape', [tensor], { shape, special_zero: false });
  }

  constant(value: number, dtype: GraphDType, shape: readonly number[] = []): LogicalTensor {
    return this.op('Constant', [], { value: [value], shape }, { dtype });
  }

  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor {
    if (tensor.dtype === dtype) return tensor;
    const isDirect = tensor.dtype === 'f32' || dtype === 'f32';
    return this.op('TypeCast', [isDirect ? tensor : this.cast(tensor, 'f32')], {}, { dtype });
  }
}

/** Whether an operation cannot compute only its first result. */
function givesSeveral({ operation }: GraphNode): boolean {
  return operation.outputs.some(({ optional, variadic }, n) => variadic || (n > 0 && !optional));
}
