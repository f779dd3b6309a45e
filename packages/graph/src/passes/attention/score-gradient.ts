import type { GraphNode } from '../../ir/node.ts';
import { flagOf } from '../../ir/schema/attribute.ts';
import type { Topology, Use } from '../../ir/topology.ts';
import type { Link, ScoreChain } from './score-chain.ts';

/** The operations of a gradient, and the tensor that they end in. */
interface Passed {
  readonly nodes: readonly GraphNode[];
  readonly result: number;
}

/**
 * Follows dS' through the chain in reverse: scales, functions, masks if the graph has them, and a cast.
 * @returns null if an operation of the chain has no gradient in the graph.
 */
export function scoreGradient(
  gradient: number,
  { matmul, links }: ScoreChain,
  topology: Topology,
): (Passed & { readonly masks: number }) | null {
  const scores = new Set([matmul, ...links.map(link => link.node)].map(node => node.outputs[0].id));
  const nodes: GraphNode[] = [];
  let at = gradient;
  let masks = 0;
  for (const link of [...links].reverse()) {
    // If an operation read scores twice, the gradient would be the sum of two gradients.
    const isReadTwice = link.node.inputs.some(({ id }, n) => n !== link.score && scores.has(id));
    const back = isReadTwice ? 'unknown' : linkGradient(link, at, topology);
    if (back === 'unknown') return null;
    if (back === 'same') continue;
    nodes.push(...back.nodes);
    at = back.result;
    if (back.nodes.some(node => node.kind === 'Mask')) masks++;
  }
  const cast = topology.uses(at).find(use => use.node.kind === 'TypeCast')?.node;
  return cast ? { nodes: [...nodes, cast], result: cast.outputs[0].id, masks } : { nodes, result: at, masks };
}

/** The gradient of one link: `same` if the gradient does not change, or operations. */
function linkGradient(
  { node, score }: Link,
  gradient: number,
  topology: Topology,
): Passed | 'same' | 'unknown' {
  const found = (isBack: (use: Use) => boolean) => {
    const back = topology.uses(gradient).find(isBack)?.node;
    return back && { nodes: [back], result: back.outputs[0].id };
  };
  switch (node.kind) {
    case 'Add':
    case 'TypeCast':
      return 'same';
    case 'Subtract':
      return score === 0 ? 'same' : (found(use => use.node.kind === 'Neg') ?? 'unknown');
    case 'Multiply':
    case 'Divide': {
      const scale = node.inputs[1 - score].id;
      return (
        found(
          ({ node: back, input }) =>
            back.kind === node.kind &&
            back.inputs[1 - input].id === scale &&
            (node.kind === 'Multiply' || (score === 0 && input === 0)),
        ) ?? 'unknown'
      );
    }
    case 'Select':
      // oneDNN's backward graphs omit the mask, because a masked score has a probability of 0.
      return (
        found(
          ({ node: back, input }) =>
            back.kind === 'Mask' &&
            input === 0 &&
            back.inputs[1].id === node.inputs[0].id &&
            flagOf(back.attributes, 'invert') === (score === 2),
        ) ?? 'same'
      );
    default:
      return functionGradient(node, score, gradient, topology) ?? 'unknown';
  }
}

/**
 * The gradient of a function of the score by its backward operation, whose last input is the gradient:
 * `TanhBackward(score, gradient)`.
 */
function functionGradient(
  node: GraphNode,
  score: number,
  gradient: number,
  { producers, uses }: Topology,
): Passed | null {
  const operands = [node.inputs[score], ...node.inputs.filter((_, n) => n !== score)];
  for (const { node: back, input } of uses(gradient)) {
    const isBack =
      back.kind === `${node.kind}Backward` &&
      input === operands.length &&
      Object.entries(back.attributes).every(([name, value]) => node.attributes[name] === value);
    if (!isBack) continue;
    const casts = operands.map(({ id }, n) => {
      if (back.inputs[n].id === id) return [];
      const cast = producers.get(back.inputs[n].id);
      return cast?.kind === 'TypeCast' && cast.inputs[0].id === id ? [cast] : null;
    });
    if (!casts.includes(null)) {
      return { nodes: [...casts.flatMap(list => list ?? []), back], result: back.outputs[0].id };
    }
  }
  return null;
}
