import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Topology } from '../ir/topology.ts';
import { type Bindable, knownTensors } from './bindings/bindable.ts';
import type { Bindings } from './bindings/bindings.ts';
import { checkIds } from './bindings/check-ids.ts';
import { compileGraph } from './compiled-graph.ts';
import { executeOnce } from './compiled-partition.ts';
import type { Partition } from './partition.ts';

/**
 * Compiles the partitions of a graph for what is bound to its inputs, and runs them as one; the engine keeps
 * the compiled partitions for the next run.
 * @returns the graph's outputs by id.
 */
export async function runGraph<T extends TensorDesc>(
  topology: Topology,
  partitions: readonly Partition[],
  engine: TensorEngine<T>,
  bindings: Bindings<Bindable<T>>,
): Promise<Record<number, T>> {
  checkIds(bindings, topology.described, topology);
  for (const { id } of topology.inputs) {
    if (bindings[id] === undefined)
      throw new InvalidArgumentError(`tensor ${id}`, 'is an input of the graph and is not bound');
  }
  const known = knownTensors(topology.inputs, bindings);
  return executeOnce(compileGraph(topology, partitions, engine, known, { kept: true }), bindings);
}
