import { groupOperations, type OperationGroup, type PartitionPolicy } from '../../compile/partition.ts';
import type { GraphNode } from '../../ir/node.ts';
import { operandForm } from '../../ir/program/attention-call.ts';
import type { Topology } from '../../ir/topology.ts';
import { attentionNames } from '../../ops/attention/names.ts';
import type { Match } from '../../passes/match.ts';
import { createPartition, type Partition } from './partition.ts';

/**
 * Divides a graph into partitions, each after those whose results it needs.
 * @throws InvalidArgumentError for an unknown policy.
 */
export function partitionGraph(topology: Topology, policy: PartitionPolicy): Partition[] {
  return groupOperations(topology, policy).map((group, id) => createPartition(id, group, topology));
}

/**
 * The partitions that a whole graph runs as. Neighbouring partitions are merged, so that operations fuse
 * across their borders and intermediate results share memory. Recognised attention remains separate, and so
 * does an operation that overwrites a tensor which other operations read.
 * @param mergesAttention whether attention that is one operation is merged with its neighbours too, unless it
 * must wait for a number.
 */
export function partitionsToRun(
  topology: Topology,
  policy: PartitionPolicy,
  mergesAttention = false,
): Partition[] {
  if (policy !== 'fusion') return partitionGraph(topology, policy);
  const isKnown = ({ attributes, inputs }: GraphNode): boolean =>
    attentionNames(attributes).operands.every(
      (name, n) => operandForm(name) !== 'number' || !topology.producers.has(inputs[n].id),
    );
  // Merged steps that read the overwritten tensor too could move behind the operation, so that a caller could
  // no longer bind the result to the tensor's memory.
  const isOnlyReader = ({ inputs: [overwritten] }: GraphNode): boolean =>
    topology.uses(overwritten.id).length === 1;
  const isPlain = ({ nodes, match }: OperationGroup): boolean =>
    (!match?.form || (mergesAttention && match.form.pass === 'operation' && isKnown(match.form.node))) &&
    nodes.every(
      node =>
        node.kind === 'End' || (node.operation.lower && (!node.operation.inPlace || isOnlyReader(node))),
    );
  const runs: { readonly nodes: GraphNode[]; match: Match | null }[] = [];
  let wasPlain = false;
  for (const group of groupOperations(topology, policy)) {
    const last = runs.at(-1);
    const afterPlain = wasPlain;
    wasPlain = isPlain(group);
    if (last && afterPlain && wasPlain) {
      last.nodes.push(...group.nodes);
      last.match = null;
    } else runs.push({ nodes: [...group.nodes], match: group.match });
  }
  return runs.map((run, id) => createPartition(id, run, topology));
}
