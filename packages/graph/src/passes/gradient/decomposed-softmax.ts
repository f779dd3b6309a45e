import type { GraphNode } from '../../ir/node.ts';
import type { Operation, OperationCall } from '../../ir/schema/operation.ts';
import type { Topology } from '../../ir/topology.ts';
import { softmaxOperations } from '../../ops/reduction/softmax.ts';
import { softmaxOf } from '../attention/softmax.ts';
import { onlyResultsLeave } from '../fuse/boundary.ts';

/** Several operations whose gradient is computed as that of one operation. */
export interface Composite {
  readonly operation: Operation;
  readonly call: OperationCall;
  /**
   * The first operation with a result. In reverse order, the gradients of all results are known at this
   * operation.
   */
  readonly first: GraphNode;
}

/**
 * The decomposed softmaxes of a graph, by each of their operations. They are differentiated as SoftMax,
 * because that takes fewer operations, and attention is recognised by this form.
 * @param named the ids of the tensors to differentiate or to differentiate with respect to. SoftMax has no
 * gradient for tensors inside it.
 */
export function decomposedSoftmaxes(
  topology: Topology,
  named: ReadonlySet<number>,
): ReadonlyMap<GraphNode, Composite> {
  const found = new Map<GraphNode, Composite>();
  const tensorsOf = (ids: readonly number[]) => ids.flatMap(id => topology.tensors.get(id) ?? []);
  for (const node of topology.order) {
    const match = node.kind === 'Divide' ? softmaxOf(node, topology) : null;
    if (!match) continue;
    const results = [match.probabilities, ...(match.stats === undefined ? [] : [match.stats])];
    if (!onlyResultsLeave(new Set(match.nodes), new Set(results), topology)) continue;
    const isNamed = match.nodes.some(({ outputs }) =>
      outputs.some(({ id }) => named.has(id) && !results.includes(id)),
    );
    if (isNamed) continue;
    const first = topology.order.find(
      member => match.nodes.includes(member) && member.outputs.some(t => results.includes(t.id)),
    );
    const call = {
      attributes: { axis: match.axis, mode: 'none' },
      inputs: tensorsOf([match.scores]),
      outputs: tensorsOf(results),
    };
    for (const member of match.nodes)
      found.set(member, { operation: softmaxOperations[0], call, first: first ?? node });
  }
  return found;
}
