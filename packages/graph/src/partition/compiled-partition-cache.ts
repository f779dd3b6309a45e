import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { CompiledPartition } from './compiled-partition.ts';

/** How many compiled partitions an engine keeps; the one that was not asked for the longest goes first. */
export const COMPILED_PARTITION_CAPACITY = 1024;

/** Compiled partitions by what they were compiled from. */
export interface CompiledPartitionCache<T extends TensorDesc> {
  get(key: string, make: () => CompiledPartition<T>): CompiledPartition<T>;
}

const caches = new WeakMap<object, Map<string, unknown>>();

/** The compiled partitions of an engine. They live as long as it. */
export function compiledPartitions<T extends TensorDesc>(engine: TensorEngine<T>): CompiledPartitionCache<T> {
  const known = caches.get(engine) ?? new Map<string, unknown>();
  caches.set(engine, known);
  const entries = known as Map<string, CompiledPartition<T>>;
  return {
    get(key, make) {
      const found = entries.get(key) ?? leaving(make(), () => entries.delete(key));
      // A Map keeps the order of insertion, so what was used last is put last.
      entries.delete(key);
      entries.set(key, found);
      const [oldest] = entries;
      if (entries.size > COMPILED_PARTITION_CAPACITY) oldest[1].release();
      return found;
    },
  };
}

/** A partition that leaves the cache when it is released. */
function leaving<T extends TensorDesc>(
  compiled: CompiledPartition<T>,
  leave: () => void,
): CompiledPartition<T> {
  return {
    ...compiled,
    get workspaceBytes() {
      return compiled.workspaceBytes;
    },
    release() {
      leave();
      compiled.release();
    },
  };
}
