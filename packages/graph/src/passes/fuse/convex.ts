import type { GraphNode } from '../../ir/node.ts';
import type { Topology } from '../../ir/topology.ts';

/** Whether none of the tensors is what one of the operations computes. */
export function comeFromOutside(
  tensors: readonly number[],
  nodes: ReadonlySet<GraphNode>,
  { producers }: Topology,
): boolean {
  return tensors.every(id => {
    const producer = producers.get(id);
    return producer === undefined || !nodes.has(producer);
  });
}

/**
 * Whether operations can run as one that gives `results` alone: nothing else of what they compute is read
 * outside or by nothing. (An `End` among them makes its tensor a result.)
 */
export function isConvex(
  nodes: ReadonlySet<GraphNode>,
  results: ReadonlySet<number>,
  topology: Topology,
): boolean {
  for (const node of nodes) {
    for (const { id } of node.outputs) {
      if (results.has(id)) continue;
      const uses = topology.uses(id);
      if (uses.length === 0 || uses.some(use => use.node.kind === 'End' || !nodes.has(use.node)))
        return false;
    }
  }
  return true;
}
