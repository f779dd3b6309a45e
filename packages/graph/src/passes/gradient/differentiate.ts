import { InvalidArgumentError } from '@tilewise/core';
import { InvalidGraphError } from '../../errors.ts';
import type { GraphWriter } from '../../ir/graph-builder.ts';
import { describeNode, type GraphNode } from '../../ir/node.ts';
import { describeTensor, type LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { namingOperation } from '../../ir/tensor/shape.ts';
import type { Topology } from '../../ir/topology.ts';
import { BackwardGraph } from './backward-graph.ts';
import { decomposedSoftmaxes } from './decomposed-softmax.ts';
import { forwardAttentions } from './forward-attention.ts';
import { rowSum } from './row-sum.ts';

/** The tensors of the forward graph to differentiate, and those to differentiate with respect to. */
export interface Differentiated {
  readonly targets: readonly LogicalTensor[];
  readonly withRespectTo: readonly LogicalTensor[];
  /** The name of `withRespectTo` in errors. */
  readonly argument?: string;
  /** The ids of the tensors that the backward pass can read. Default: the inputs and results of the graph. */
  readonly given?: { has(id: number): boolean } | undefined;
}

/**
 * The graph that gradients are written to, and its inputs and results by the ids of their forward tensors.
 */
export interface GradientTarget {
  readonly target: GraphWriter;
  /** Whether `target` is the forward graph itself. Default: false. */
  readonly isForward?: boolean;
  readonly seeds: Map<number, LogicalTensor>;
  readonly results: Map<number, LogicalTensor>;
}

/**
 * Writes the operations that compute gradients of a graph.
 * @throws InvalidArgumentError for a tensor that no target depends on; InvalidGraphError for an operation
 * without a gradient.
 */
export function differentiate(
  topology: Topology,
  {
    targets,
    withRespectTo,
    argument = 'withRespectTo',
    given = new Set([...topology.inputs, ...topology.outputs].map(t => t.id)),
  }: Differentiated,
  written: GradientTarget,
): void {
  const { target, seeds, results } = written;
  const composites = decomposedSoftmaxes(topology, new Set([...targets, ...withRespectTo].map(t => t.id)));
  const builder = new BackwardGraph(topology, written, given, composites, forwardAttentions(topology, given));
  const collected = new Map<number, LogicalTensor[]>();
  for (const t of targets) {
    const seed = target.tensor({ dtype: t.dtype, shape: topology.shapeOf(t.id) ?? t.shape });
    seeds.set(t.id, seed);
    collected.set(t.id, [seed]);
  }

  const wanted = new Set(withRespectTo.map(t => t.id));
  const depends = dependants(topology, wanted);
  for (const node of [...topology.order].reverse()) {
    const composite = composites.get(node);
    if (composite && composite.first !== node) continue;
    const { operation, call } = composite ?? { operation: node.operation, call: node };
    const outputGradients = call.outputs.map(t => total(collected.get(t.id), builder));
    const dy = outputGradients.find(gradient => gradient !== undefined);
    if (!depends.has(node) || !dy) continue;
    const { gradient, noGradient } = operation;
    if (!gradient || gradient === 'zero') {
      const why = noGradient === undefined ? '' : `: ${noGradient}`;
      throw new InvalidGraphError(`${describeNode(node)} has no gradient${why}`);
    }
    const needed = call.inputs.map(t => wanted.has(t.id) || producedBy(topology, t, depends));
    const gradientOf = (id: number): LogicalTensor | undefined => total(collected.get(id), builder);
    // The shapes of a graph may still contradict each other.
    namingOperation(node.kind, () => {
      const rules = gradient({
        ...{ ...call, builder, outputGradients, dy, needed },
        rowSum: () => rowSum(call.outputs[0], { topology, builder, seeds }, gradientOf),
      });
      call.inputs.forEach((t, n) => {
        const rule = rules[n];
        if (!needed[n] || !rule) return;
        // The gradient of an f32 tensor that is read in 16 bits is not rounded to 16 bits.
        const term = t.dtype === 'f32' ? builder.cast(rule(), 'f32') : rule();
        collected.set(t.id, [...(collected.get(t.id) ?? []), term]);
      });
    });
  }
  for (const t of withRespectTo) {
    const sum = total(collected.get(t.id), builder);
    if (!sum)
      throw new InvalidArgumentError(
        argument,
        `must be floats that a result depends on: leave out tensor ${describeTensor(t)}`,
      );
    // A seed is an input of the graph, so a gradient that equals a seed is a copy.
    const isSeed = [...seeds.values()].includes(sum);
    results.set(t.id, isSeed ? builder.op('Reorder', [sum]) : builder.cast(sum, t.dtype));
  }
  // A gradient that other gradients read is a result only if an `End` reads it.
  const read = new Set(target.nodes.flatMap(node => node.inputs.map(t => t.id)));
  for (const gradient of results.values())
    if (read.has(gradient.id)) target.add({ kind: 'End', inputs: [gradient], outputs: [] });
}

function total(
  terms: readonly LogicalTensor[] | undefined,
  builder: BackwardGraph,
): LogicalTensor | undefined {
  return terms?.reduce((sum, term) => {
    // Terms of different dtypes are added in f32, in which the gradient of a 16-bit tensor may stay.
    const dtype = sum.dtype === term.dtype ? sum.dtype : 'f32';
    return builder.op('Add', [builder.cast(sum, dtype), builder.cast(term, dtype)]);
  });
}

function producedBy({ producers }: Topology, { id }: LogicalTensor, nodes: ReadonlySet<GraphNode>): boolean {
  const producer = producers.get(id);
  return producer !== undefined && nodes.has(producer);
}

/** The operations whose results depend on tensors, which are given by id. */
function dependants(topology: Topology, ids: ReadonlySet<number>): ReadonlySet<GraphNode> {
  const found = new Set<GraphNode>();
  for (const node of topology.order) {
    const changes = node.operation.gradient !== 'zero';
    if (changes && node.inputs.some(t => ids.has(t.id) || producedBy(topology, t, found))) found.add(node);
  }
  return found;
}
