import { describeValue, InvalidArgumentError } from '@tilewise/core';
import { Graph } from './graph.ts';
import { checkGraph } from './ir/check-graph.ts';
import { checkNames } from './ir/check-names.ts';
import type { LogicalTensor } from './ir/tensor/logical-tensor.ts';
import { differentiate } from './passes/gradient/differentiate.ts';

/**
 * The tensors of the forward graph to differentiate (`of`), and those to differentiate them with respect to.
 */
export interface GradientOptions {
  /** The tensors that the loss depends on, whose gradients are inputs of the backward graph. */
  readonly of: LogicalTensor | readonly LogicalTensor[];
  /** The tensors whose gradients are outputs of the backward graph. */
  readonly withRespectTo: readonly LogicalTensor[];
}

/** A backward graph. The forward tensors that it reads keep their ids. */
export class GradientGraph extends Graph {
  /**
   * The gradient of the loss with respect to each tensor of `of`, by that tensor's id. Inputs of this graph.
   */
  readonly seeds: ReadonlyMap<number, LogicalTensor>;
  /**
   * The gradient with respect to each tensor of `withRespectTo`, by that tensor's id. Results of this graph.
   */
  readonly gradients: ReadonlyMap<number, LogicalTensor>;

  /** Use `gradients`. @internal */
  constructor(source: Graph, seeds: Map<number, LogicalTensor>, gradients: Map<number, LogicalTensor>) {
    super(source.header, source.topology.described.values());
    this.seeds = seeds;
    this.gradients = gradients;
  }
}

/**
 * Builds the graph that computes the gradients of a finalized graph, from the same operations. Its inputs are
 * the inputs and results of the forward graph that it needs, and the gradients of the loss with respect to
 * `of`; it recomputes other forward tensors. Attention whose softmax has `stats` as a result becomes one
 * backward partition. If attention's output is also a result of the forward graph, nothing of forward is
 * recomputed; otherwise, if other gradients need that output, a forward partition recomputes it.
 *
 * @throws InvalidArgumentError for a tensor that is not in the graph, or for a tensor of `withRespectTo` that
 * no tensor of `of` depends on; InvalidGraphError if an operation between them has no gradient.
 */
export function gradients(forward: Graph, options: GradientOptions): GradientGraph {
  checkGraph('forward', forward);
  checkNames('options', options, ['of', 'withRespectTo']);
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
      throw new InvalidArgumentError('of, withRespectTo', `has tensor ${t.id}, which is not in the graph`);
  }
  const seeds = new Map<number, LogicalTensor>();
  const results = new Map<number, LogicalTensor>();
  const target = new GradientGraph(forward, seeds, results);
  differentiate(topology, { targets, withRespectTo }, { target, seeds, results });
  return target;
}
