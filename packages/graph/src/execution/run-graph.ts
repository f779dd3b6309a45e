import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Topology } from '../graph/topology.ts';
import type { Partition } from '../partition/partition.ts';
import type { Bindings } from './bindings.ts';
import { type Bindable, isTensor } from './storage.ts';

/**
 * Runs partitions one after the other on an engine.
 * @returns the graph's outputs by id.
 */
export async function runGraph<T extends TensorDesc>(
  topology: Topology,
  partitions: readonly Partition[],
  engine: TensorEngine<T>,
  bindings: Bindings<Bindable<T>>,
): Promise<Record<number, T>> {
  const tensors = new Map<number, Bindable<T>>();
  for (const t of topology.inputs) {
    const bound = bindings[t.id];
    if (bound === undefined)
      throw new InvalidArgumentError(`tensor ${t.id}`, 'is an input of the graph and is not bound');
    tensors.set(t.id, bound);
  }
  const results = new Set(topology.outputs.map(t => t.id));
  const lastUse = new Map<number, number>();
  partitions.forEach((partition, n) => {
    for (const t of partition.inputs) lastUse.set(t.id, n);
  });
  for (const [n, partition] of partitions.entries()) {
    if (partition.outputs.length === 0) continue;
    const inputs = Object.fromEntries(partition.inputs.map(t => [t.id, tensors.get(t.id) as Bindable<T>]));
    for (const [id, tensor] of Object.entries(await partition.run(engine, inputs)))
      tensors.set(Number(id), tensor);
    for (const t of partition.inputs) {
      const done = lastUse.get(t.id) === n && topology.producers.has(t.id) && !results.has(t.id);
      const tensor = tensors.get(t.id);
      if (done && isTensor(tensor)) engine.release(tensor as T);
    }
  }
  return Object.fromEntries([...results].map(id => [id, tensors.get(id) as T]));
}
