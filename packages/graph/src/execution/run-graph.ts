import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Topology } from '../graph/topology.ts';
import type { Partition } from '../partition/partition.ts';
import type { Bindings } from './bindings.ts';
import { compileGraph } from './compiled-graph.ts';
import { type Bindable, knownTensor } from './storage.ts';

/**
 * Compiles the partitions of a graph for what is bound to its inputs, and runs them as one; the engine keeps them for the next time.
 * @returns the graph's outputs by id.
 */
export async function runGraph<T extends TensorDesc>(
  topology: Topology,
  partitions: readonly Partition[],
  engine: TensorEngine<T>,
  bindings: Bindings<Bindable<T>>,
): Promise<Record<number, T>> {
  const inputs: Record<number, Bindable<T>> = {};
  for (const { id } of topology.inputs) {
    const bound = bindings[id];
    if (bound === undefined)
      throw new InvalidArgumentError(`tensor ${id}`, 'is an input of the graph and is not bound');
    inputs[id] = bound;
  }
  const known = Object.fromEntries(topology.inputs.map(t => [t.id, knownTensor(t, inputs[t.id])]));
  const compiled = compileGraph(topology, partitions, engine, known, { kept: true });
  try {
    return await compiled.execute(inputs);
  } finally {
    compiled.release();
  }
}
