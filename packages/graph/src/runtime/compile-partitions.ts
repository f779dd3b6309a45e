import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Overwrites } from '../compile/overwrites.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { type KnownTensor, knownOf, storageDesc } from '../ir/tensor/storage.ts';
import type { Topology } from '../ir/topology.ts';
import type { Ends } from './bindings/bindings.ts';
import { allocateIntermediates, type Intermediates } from './intermediates.ts';
import type { CompiledPartition } from './partitions/compiled-partition.ts';
import type { CompileOptions, Partition } from './partitions/partition.ts';

/** The compiled partitions of a graph, and the memory of the tensors between them. */
export interface CompiledPartitions<T extends TensorDesc> {
  /** The partitions, in the order in which they run. */
  readonly partitions: readonly CompiledPartition<T>[];
  /** The names of the partitions in traces. */
  readonly names: readonly string[];
  readonly intermediates: Intermediates<T>;
  /** The graph's inputs that a partition reads, and its outputs, with the compiled shapes. */
  readonly ends: Ends;
}

/**
 * Compiles the partitions of a graph in order, so that each knows the shapes of its inputs; on an error it
 * releases everything.
 * @param inputs the shapes of the graph's inputs, by id.
 */
export function compilePartitions<T extends TensorDesc>(
  topology: Topology,
  parts: readonly Partition[],
  engine: TensorEngine<T>,
  inputs: Readonly<Record<number, KnownTensor>>,
  sharing: Pick<CompileOptions, 'cached' | 'kept'>,
): CompiledPartitions<T> {
  const known = new Map(Object.entries(inputs).map(([id, tensor]) => [Number(id), tensor]));
  const results = new Set(topology.outputs.map(t => t.id));
  const isBetween = (id: number): boolean => topology.producers.has(id) && !results.has(id);
  const partitions: CompiledPartition<T>[] = [];
  const names: string[] = [];
  try {
    for (const partition of parts) {
      if (partition.outputs.length === 0) continue;
      const compiled = partition.compile(engine, { ...sharing, inputs: picked(known, partition.inputs) });
      for (const t of compiled.outputs) known.set(t.id, knownOf(t, storageDesc(t)));
      partitions.push(compiled);
      names.push(nameOf(topology, partition));
    }
    const intermediates = allocateIntermediates(engine, partitions, isBetween);
    const outputs = partitions.flatMap(({ outputs: all }) => all.filter(t => results.has(t.id)));
    const read = new Map(partitions.flatMap(partition => partition.inputs.map(t => [t.id, t] as const)));
    const ends = {
      inputs: topology.inputs.flatMap(({ id }) => read.get(id) ?? []),
      outputs,
      overwrites: overwritesOf(partitions),
    };
    return { partitions, names, intermediates, ends };
  } catch (error) {
    for (const partition of partitions) partition.release();
    throw error;
  }
}

/** An output may overwrite an input that no partition reads after the output has been written. */
function overwritesOf<T extends TensorDesc>(partitions: readonly CompiledPartition<T>[]): Overwrites {
  const has = (tensors: readonly LogicalTensor[], id: number): boolean => tensors.some(t => t.id === id);
  return (output, input) => {
    const writer = partitions.findIndex(partition => has(partition.outputs, output));
    return partitions.every(
      (partition, n) =>
        n < writer || !has(partition.inputs, input) || (n === writer && partition.overwrites(output, input)),
    );
  };
}

/** The name of a partition in traces: its kind and its id. */
function nameOf({ order }: Topology, { id, kind, ops }: Partition): string {
  const own = kind === 'operation' ? order.find(node => node.id === ops[0])?.kind : kind;
  return `${own ?? kind} ${id}`;
}

/** The values of some tensors, by id. */
function picked<V>(all: ReadonlyMap<number, V>, tensors: readonly LogicalTensor[]): Record<number, V> {
  const found: Record<number, V> = {};
  for (const { id } of tensors) {
    const value = all.get(id);
    if (value !== undefined) found[id] = value;
  }
  return found;
}
