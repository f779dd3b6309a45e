import { checkObject, describeValue, InvalidArgumentError } from '@tilewise/core';
import { Graph } from './graph.ts';
import { checkGraph } from './ir/check-graph.ts';
import type { LogicalTensor } from './ir/tensor/logical-tensor.ts';
import { differentiate } from './passes/gradient/differentiate.ts';

/** What is differentiated, and by what: tensors of the forward graph. */
export interface GradientOptions {
  readonly of: LogicalTensor | readonly LogicalTensor[];
  readonly withRespectTo: readonly LogicalTensor[];
}

/** A backward graph. Tensors of the forward graph that it reads have their ids. */
export class GradientGraph extends Graph {
  /**
   * By the id of each tensor that is differentiated: the gradient of the loss by it, an input of this graph.
   */
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
 * The graph that computes gradients of a finalized graph, out of the same operations. Its inputs are those of
 * the forward graph and its results, as far as they are needed, and the gradients by `of`; what is in between
 * is computed again, but for results that only lie otherwise. Each operation is built once. Attention whose
 * softmax gives its `stats` as a result comes back as one backward partition. It computes nothing of the
 * forward pass again where that gives the product with the values, too; where it does not and other gradients
 * need that product, a forward partition of its own does.
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
