import type { GraphNode } from '../../ir/node.ts';
import type { Topology } from '../../ir/topology.ts';

/** Whether no tensor is a result of one of the operations. */
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
 * Whether `results` are the only tensors that leave the operations: every other result is read, and inside
 * alone. (An `End` among the readers makes a tensor leave.)
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
