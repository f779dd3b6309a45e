import type { GraphNode } from '../../ir/node.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { forwardParts } from '../attention/forward.ts';
import { fuseAfter, layoutKinds } from '../fuse/fuse.ts';

/** A forward pass of attention that a backward graph can recompute. */
export interface ForwardAttention {
  readonly nodes: ReadonlySet<GraphNode>;
  /** The output, in the layout that other operations read. */
  readonly output: LogicalTensor;
}

/**
 * The attention in a graph whose stats are given, so that its backward pass starts from them; by the ids of
 * the output in every layout.
 */
export function forwardAttentions(
  topology: Topology,
  given: { has(id: number): boolean },
): ReadonlyMap<number, ForwardAttention> {
  const found = new Map<number, ForwardAttention>();
  for (const node of topology.order) {
    const parts = forwardParts(node, topology);
    if (!parts || parts.after.rearranged || parts.after.rounding) continue;
    const { stats } = parts.softmax;
    if (stats === undefined || !given.has(stats)) continue;
    const [product] = parts.after.matmul.outputs;
    const outputs = [
      product,
      ...fuseAfter(product.id, topology, layoutKinds).nodes.map(layout => layout.outputs[0]),
    ];
    const attention = { nodes: parts.nodes, output: outputs[outputs.length - 1] };
    for (const { id } of outputs) found.set(id, attention);
  }
  return found;
}
