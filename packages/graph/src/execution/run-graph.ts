import { InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Topology } from '../graph/topology.ts';
import type { Bindings } from '../partition/compiled-partition.ts';
import type { KnownTensor, Partition } from '../partition/partition.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import { type Bindable, scalarTensor } from './storage.ts';

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
    const compiled = partition.compile(engine, {
      inputs: Object.fromEntries(partition.inputs.map(t => [t.id, knownTensor(t, tensors.get(t.id))])),
    });
    const inputs = Object.fromEntries(partition.inputs.map(t => [t.id, tensors.get(t.id) as Bindable<T>]));
    for (const [id, tensor] of Object.entries(await compiled.execute(inputs)))
      tensors.set(Number(id), tensor);
    for (const t of partition.inputs) {
      const done = lastUse.get(t.id) === n && topology.producers.has(t.id) && !results.has(t.id);
      const tensor = tensors.get(t.id);
      if (done && isTensor(tensor)) engine.release(tensor as T);
    }
  }
  return Object.fromEntries([...results].map(id => [id, tensors.get(id) as T]));
}

/** What is known of a tensor by what is bound to it. */
export function knownTensor<T extends TensorDesc>(
  tensor: LogicalTensor,
  bound: Bindable<T> | undefined,
): KnownTensor {
  const host = typeof bound === 'number' || typeof bound === 'bigint' ? scalarTensor(tensor, bound) : bound;
  if (!isTensor(host)) return { shape: tensor.shape ?? [] };
  const { shape, strides } = host;
  return tensor.dtype === 'i64' ? { shape: shape.slice(0, -1) } : { shape, strides };
}

function isTensor(x: unknown): x is TensorDesc {
  return x instanceof Tensor || (typeof x === 'object' && x !== null && 'shape' in x);
}
