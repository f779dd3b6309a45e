import { checkObject, describeValue, InvalidArgumentError } from '@tilewise/core';
import { InvalidGraphError } from '../errors.ts';
import { checkGraph } from '../graph/check-graph.ts';
import { Graph } from '../graph/graph.ts';
import { describeNode, type GraphNode } from '../graph/node.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import { forwardAttentions } from './forward-attention.ts';
import { BackwardGraph } from './gradient-builder.ts';
import { rowSum } from './row-sum.ts';
import { writtenSoftmaxes } from './written-softmax.ts';

/** What is differentiated, and by what: tensors of the forward graph. */
export interface GradientOptions {
  readonly of: LogicalTensor | readonly LogicalTensor[];
  readonly withRespectTo: readonly LogicalTensor[];
}

/** A backward graph. Tensors of the forward graph that it reads have their ids. */
export class GradientGraph extends Graph {
  /** By the id of each tensor that is differentiated: the gradient of the loss by it, an input of this graph. */
  readonly seeds: ReadonlyMap<number, LogicalTensor>;
  /** By the id of each tensor that was asked for: the gradient by it, a result of this graph. */
  readonly gradients: ReadonlyMap<number, LogicalTensor>;

  constructor(source: Graph, seeds: Map<number, LogicalTensor>, gradients: Map<number, LogicalTensor>) {
    super(source.header, source.topology.described.values());
    this.seeds = seeds;
    this.gradients = gradients;
  }
}

/**
 * The graph that computes gradients of a finalized graph, out of the same operations. Its inputs are those of the forward graph
 * and its results, as far as they are needed, and the gradients by `of`; what is in between is computed again, but for results that
 * only lie otherwise. Each operation is built once. Attention whose softmax gives its `stats` as a result comes back as one backward
 * partition. It computes nothing of the forward pass again where that gives the product with the values, too; where it does not and other
 * gradients need that product, a forward partition of its own does.
 *
 * @throws InvalidArgumentError for a tensor that is not of the graph or does not depend on one asked for; InvalidGraphError where an
 * operation on the way has no gradient.
 */
export function gradients(forward: Graph, options: GradientOptions): GradientGraph {
  checkGraph('forward', forward);
  checkObject('options', options);
  const { of, withRespectTo } = options;
  if (!Array.isArray(withRespectTo)) {
    throw new InvalidArgumentError(
      'withRespectTo',
      `must be an array of tensors, got ${describeValue(withRespectTo)}`,
    );
  }
  const targets = Array.isArray(of) ? (of as readonly LogicalTensor[]) : [of as LogicalTensor];
  const { topology } = forward;
  for (const t of [...targets, ...withRespectTo]) {
    if (typeof t?.id !== 'number')
      throw new InvalidArgumentError(
        'of, withRespectTo',
        `must be tensors of the graph, got ${describeValue(t)}`,
      );
    if (!topology.tensors.has(t.id))
      throw new InvalidArgumentError('of, withRespectTo', `has tensor ${t.id}, which the graph has not`);
  }
  const seeds = new Map<number, LogicalTensor>();
  const results = new Map<number, LogicalTensor>();
  const target = new GradientGraph(forward, seeds, results);
  const given = new Set([...topology.inputs, ...topology.outputs].map(t => t.id));
  const composites = writtenSoftmaxes(topology, new Set([...targets, ...withRespectTo].map(t => t.id)));
  const builder = new BackwardGraph(forward, target, given, composites, forwardAttentions(topology, given));
  const collected = new Map<number, LogicalTensor[]>();
  for (const t of targets) {
    const seed = target.tensor({ dtype: t.dtype, shape: topology.shapeOf(t.id) });
    seeds.set(t.id, seed);
    collected.set(t.id, [seed]);
  }

  const depends = dependants(forward, withRespectTo);
  for (const node of [...topology.order].reverse()) {
    const composite = composites.get(node);
    if (composite && composite.first !== node) continue;
    const { operation, call } = composite ?? { operation: node.operation, call: node };
    const outputGradients = call.outputs.map(t => total(collected.get(t.id), builder));
    if (!depends.has(node) || outputGradients.every(dy => dy === undefined)) continue;
    const { gradient, noGradient } = operation;
    if (!gradient || gradient === 'zero') {
      const why = noGradient === undefined ? '' : `: ${noGradient}`;
      throw new InvalidGraphError(`${describeNode(node)} has no gradient${why}`);
    }
    const needed = call.inputs.map(
      t => withRespectTo.some(wanted => wanted.id === t.id) || producedBy(forward, t, depends),
    );
    const gradientOf = (id: number): LogicalTensor | undefined => total(collected.get(id), builder);
    const rules = gradient({
      ...{ ...call, builder, outputGradients, needed },
      rowSum: () => rowSum(call.outputs[0], { topology, builder, seeds }, gradientOf),
    });
    call.inputs.forEach((t, n) => {
      const rule = rules[n];
      if (!needed[n] || !rule) return;
      collected.set(t.id, [...(collected.get(t.id) ?? []), rule()]);
    });
  }
  for (const t of withRespectTo) {
    const sum = total(collected.get(t.id), builder);
    if (!sum)
      throw new InvalidArgumentError('withRespectTo', `has tensor ${t.id}, which nothing of 'of' depends on`);
    results.set(t.id, builder.cast(sum, t.dtype));
  }
  // A gradient that others are computed from is a result all the same.
  for (const gradient of results.values()) {
    if (target.nodes.some(node => node.inputs.some(t => t.id === gradient.id))) {
      target.op('End', { inputs: [gradient], outputs: [] });
    }
  }
  return target;
}

function total(
  terms: readonly LogicalTensor[] | undefined,
  builder: BackwardGraph,
): LogicalTensor | undefined {
  return terms?.reduce((sum, term) => builder.op('Add', [builder.cast(sum, term.dtype), term]));
}

function producedBy({ topology }: Graph, { id }: LogicalTensor, nodes: ReadonlySet<GraphNode>): boolean {
  const producer = topology.producers.get(id);
  return producer !== undefined && nodes.has(producer);
}

/** The operations whose results change with tensors. */
function dependants(graph: Graph, tensors: readonly LogicalTensor[]): ReadonlySet<GraphNode> {
  const ids = new Set(tensors.map(t => t.id));
  const found = new Set<GraphNode>();
  for (const node of graph.topology.order) {
    const changes = node.operation.gradient !== 'zero';
    if (changes && node.inputs.some(t => ids.has(t.id) || producedBy(graph, t, found))) found.add(node);
  }
  return found;
}
