import type { GraphNode } from '../../ir/node.ts';
import type { Topology } from '../../ir/topology.ts';

/** Dropout of a tensor, and the tensors that its numbers come from. */
export interface DropoutMatch {
  readonly nodes: readonly GraphNode[];
  readonly result: number;
  /**
   * A tensor in the shape of the mask, which is drawn by element index: what Dropout reads, or RNG writes.
   */
  readonly likeMask: number;
  readonly seed: number;
  readonly offset: number;
  readonly p: number | { readonly tensor: number };
  /** A scalar factor of kept elements, in place of 1 / (1 − p). */
  readonly scale?: number;
}

/** The dropout that is applied to a tensor: `Dropout`, or RNG · Multiply · Multiply. */
export function dropoutOf(tensor: number, topology: Topology): DropoutMatch | null {
  const users = topology.uses(tensor);
  const dropout = users.find(use => use.node.kind === 'Dropout' && use.input === 0)?.node;
  if (dropout && dropout.outputs.length === 1) {
    const [, seed, offset, p] = dropout.inputs;
    return {
      nodes: [dropout],
      result: dropout.outputs[0].id,
      likeMask: tensor,
      seed: seed.id,
      offset: offset.id,
      p: p ? { tensor: p.id } : (dropout.attributes.p as number),
    };
  }
  for (const { node, input } of users) {
    const match = node.kind === 'Multiply' ? byMultiplies(node, 1 - input, topology) : null;
    if (match) return match;
  }
  return null;
}

/** The tensors that dropout reads its numbers from. */
export function dropoutOperands({ seed, offset, p, scale }: DropoutMatch): number[] {
  return [
    seed,
    offset,
    ...(typeof p === 'object' ? [p.tensor] : []),
    ...(scale === undefined ? [] : [scale]),
  ];
}

/** Multiply(x, RNG) · Multiply(·, scale), or the scale first. */
function byMultiplies(first: GraphNode, other: number, topology: Topology): DropoutMatch | null {
  const [next, ...more] = topology.uses(first.outputs[0].id);
  if (!next || more.length > 0 || next.node.kind !== 'Multiply') return null;
  const operands = [first.inputs[other].id, next.node.inputs[1 - next.input].id];
  const random = operands.map(id => topology.producers.get(id)).find(node => node?.kind === 'RNG');
  if (random?.attributes.distribution_mode !== 'BERNOULLI') return null;
  const scale = operands.find(id => id !== random.outputs[0].id);
  if (scale === undefined) return null;
  return {
    nodes: [random, first, next.node],
    result: next.node.outputs[0].id,
    likeMask: random.outputs[0].id,
    seed: random.inputs[1].id,
    offset: random.inputs[2].id,
    p: random.attributes.p as number,
    scale,
  };
}
