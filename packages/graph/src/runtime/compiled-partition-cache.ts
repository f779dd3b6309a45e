import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { CompiledPartition } from './compiled-partition.ts';

/** How many compiled partitions an engine keeps; the least recently used is dropped first. */
export const COMPILED_PARTITION_CAPACITY = 1024;

/** Compiled partitions, by what they were compiled from. */
export interface CompiledPartitionCache<T extends TensorDesc> {
  /**
   * For a holder, who releases it. When the last one has, its memory is freed, unless that one wants it kept
   * for who asks for the same later: then when it goes from the cache. What is the holder's own is made by
   * `heldBy`.
   */
  hold(
    key: string,
    make: () => CompiledPartition<T>,
    isKept: boolean,
    heldBy: (shared: CompiledPartition<T>, letGo: () => void) => CompiledPartition<T>,
  ): CompiledPartition<T>;
}

/** A compiled partition and its number of holders. */
interface Entry {
  readonly compiled: CompiledPartition<TensorDesc>;
  holders: number;
}

const caches = new WeakMap<object, Map<string, Entry>>();

/** The compiled partitions of an engine. */
export function compiledPartitions<T extends TensorDesc>(engine: TensorEngine<T>): CompiledPartitionCache<T> {
  const entries = caches.get(engine) ?? new Map<string, Entry>();
  caches.set(engine, entries);

  function entryOf(key: string, make: () => CompiledPartition<T>): Entry {
    const entry = entries.get(key) ?? { compiled: make() as unknown as CompiledPartition, holders: 0 };
    // A Map keeps the order of insertion, so what was used last is put last.
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries;
    if (entries.size > COMPILED_PARTITION_CAPACITY) {
      entries.delete(oldest[0]);
      if (oldest[1].holders === 0) oldest[1].compiled.release();
    }
    return entry;
  }

  return {
    hold(key, make, isKept, heldBy) {
      const entry = entryOf(key, make);
      entry.holders++;
      return heldBy(entry.compiled as unknown as CompiledPartition<T>, () => {
        entry.holders--;
        const isCached = entries.get(key) === entry;
        if (entry.holders > 0 || (isKept && isCached)) return;
        if (isCached) entries.delete(key);
        entry.compiled.release();
      });
    },
  };
}
