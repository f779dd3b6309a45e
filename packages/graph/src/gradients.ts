import { checkObject, describeValue, InvalidArgumentError } from '@tilewise/core';
import { Graph } from './graph.ts';
import { checkGraph } from './ir/check-graph.ts';
import type { LogicalTensor } from './ir/tensor/logical-tensor.ts';
import { differentiate } from './passes/gradient/differentiate.ts';

/** The tensors to differentiate, and those to differentiate by: tensors of the forward graph. */
export interface GradientOptions {
  readonly of: LogicalTensor | readonly LogicalTensor[];
  readonly withRespectTo: readonly LogicalTensor[];
}

/** A backward graph. Forward tensors that it reads keep their ids. */
export class GradientGraph extends Graph {
  /**
   * The gradient of the loss by each differentiated tensor, an input of this graph; by the id of the tensor.
   */
  readonly seeds: ReadonlyMap<number, LogicalTensor>;
  /** The gradient by each tensor of `withRespectTo`, a result of this graph; by the id of the tensor. */
  readonly gradients: ReadonlyMap<number, LogicalTensor>;

  constructor(source: Graph, seeds: Map<number, LogicalTensor>, gradients: Map<number, LogicalTensor>) {
    super(source.header, source.topology.described.values());
    this.seeds = seeds;
    this.gradients = gradients;
  }
}

/**
 * The graph that computes gradients of a finalized graph from the same operations. Its inputs are the needed
 * inputs and results of the forward graph, and the gradients by `of`; other forward tensors are recomputed.
 * Attention whose softmax gives `stats` as a result comes back as one backward partition. It recomputes
 * nothing of forward where forward also gives the output of attention; else, where other gradients need that
 * output, a forward partition recomputes it.
 *
 * @throws InvalidArgumentError for a tensor that is not of the graph or does not depend on one asked for;
 * InvalidGraphError where an operation on the way has no gradient.
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
  differentiate(topology, { targets, withRespectTo }, { target, seeds, results });
  return target;
}
