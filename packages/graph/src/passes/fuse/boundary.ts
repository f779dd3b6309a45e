import type { GraphNode } from '../../ir/node.ts';
import type { Topology } from '../../ir/topology.ts';

/** Whether no tensor is a result of the operations. */
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
 * Whether a tensor leaves the operations that produce it: it is read outside them, by no operation, or by an
 * `End`.
 */
export function leaves(tensor: number, nodes: ReadonlySet<GraphNode>, { uses }: Topology): boolean {
  const readers = uses(tensor);
  return readers.length === 0 || readers.some(({ node }) => node.kind === 'End' || !nodes.has(node));
}

/**
 * Whether `results` are the only tensors that leave the operations: every other result is read, and only
 * inside. (A tensor that an `End` reads leaves.) Whether a path leaves the operations and returns to them is
 * tested when a partition is formed.
 */
export function onlyResultsLeave(
  nodes: ReadonlySet<GraphNode>,
  results: ReadonlySet<number>,
  topology: Topology,
): boolean {
  return [...nodes].every(({ outputs }) =>
    outputs.every(({ id }) => results.has(id) || !leaves(id, nodes, topology)),
  );
}
