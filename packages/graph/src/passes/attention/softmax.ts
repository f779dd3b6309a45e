import type { GraphNode } from '../../ir/node.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import type { Topology } from '../../ir/topology.ts';

/** A softmax, as one operation or decomposed into several. */
export interface SoftmaxMatch {
  readonly nodes: readonly GraphNode[];
  readonly scores: number;
  readonly probabilities: number;
  /** The tensor max + ln Σ e^(x − max), if it is computed. */
  readonly stats?: number;
  /** The axis as the graph gives it; a negative axis counts from the end. */
  readonly axis: number;
}

/** The softmax that ends in an operation: `SoftMax`, or the `Divide` of a decomposed softmax. */
export function softmaxOf(node: GraphNode, topology: Topology): SoftmaxMatch | null {
  if (node.kind === 'SoftMax') {
    const [probabilities, stats] = node.outputs;
    return {
      nodes: [node],
      scores: node.inputs[0].id,
      probabilities: probabilities.id,
      ...(stats && { stats: stats.id }),
      axis: node.attributes.axis as number,
    };
  }
  return node.kind === 'Divide' ? decomposed(node, topology) : null;
}

/**
 *     max = ReduceMax(x)      e = Exp(Subtract(x, max))      sum = ReduceSum(e)      p = Divide(e, sum)
 *     [stats = Add(max, Log(sum))]
 */
function decomposed(divide: GraphNode, { producers, uses }: Topology): SoftmaxMatch | null {
  const exp = producers.get(divide.inputs[0].id);
  const sum = producers.get(divide.inputs[1].id);
  if (exp?.kind !== 'Exp' || sum?.kind !== 'ReduceSum' || sum.inputs[0].id !== exp.outputs[0].id) return null;
  const subtract = producers.get(exp.inputs[0].id);
  if (subtract?.kind !== 'Subtract') return null;
  const max = producers.get(subtract.inputs[1].id);
  if (max?.kind !== 'ReduceMax') return null;
  const scores = subtract.inputs[0].id;
  const axes = [sum, max].map(node => numbersOf(node.attributes, 'axes'));
  const sameAxis = axes.every(list => list.length === 1 && list[0] === axes[0][0]);
  const keep = [sum, max].every(node => node.attributes.keep_dims === true);
  if (max.inputs[0].id !== scores || !sameAxis || !keep) return null;

  const log = uses(sum.outputs[0].id).find(use => use.node.kind === 'Log')?.node;
  const add = log && uses(log.outputs[0].id).find(use => use.node.kind === 'Add')?.node;
  const isStats = add?.inputs.some(t => t.id === max.outputs[0].id) ?? false;
  return {
    nodes: [max, subtract, exp, sum, divide, ...(log && add && isStats ? [log, add] : [])],
    scores,
    probabilities: divide.outputs[0].id,
    ...(add && isStats && { stats: add.outputs[0].id }),
    axis: axes[0][0],
  };
}
