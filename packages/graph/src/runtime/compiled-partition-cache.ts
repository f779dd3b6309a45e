import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { SharedPartition } from './compiled-partition.ts';

/** How many compiled partitions an engine keeps; the least recently used is dropped first. */
export const COMPILED_PARTITION_CAPACITY = 1024;

/** A compiled partition for a holder, who lets go of it. */
export interface Holding<T extends TensorDesc> {
  readonly shared: SharedPartition<T>;
  letGo(): void;
}

/** A compiled partition and its number of holders. */
interface Entry {
  readonly compiled: SharedPartition<TensorDesc>;
  holders: number;
}

/** The compiled partitions of engines, by what they were compiled from. */
const caches = new WeakMap<object, Map<string, Entry>>();

/**
 * A compiled partition of an engine, for a holder. When the last holder has let go of it, its memory is
 * freed, unless that one wants it kept for who asks for the same later: then when it goes from the cache.
 */
export function holdPartition<T extends TensorDesc>(
  engine: TensorEngine<T>,
  key: string,
  make: () => SharedPartition<T>,
  isKept: boolean,
): Holding<T> {
  const entries = caches.get(engine) ?? new Map<string, Entry>();
  caches.set(engine, entries);
  const entry = entries.get(key) ?? {
    compiled: make() as unknown as SharedPartition<TensorDesc>,
    holders: 0,
  };
  // A Map keeps the order of insertion, so what was used last is put last.
  entries.delete(key);
  entries.set(key, entry);
  const [oldest] = entries;
  if (entries.size > COMPILED_PARTITION_CAPACITY) {
    entries.delete(oldest[0]);
    if (oldest[1].holders === 0) oldest[1].compiled.release();
  }
  entry.holders++;
  return {
    shared: entry.compiled as unknown as SharedPartition<T>,
    letGo() {
      entry.holders--;
      const isCached = entries.get(key) === entry;
      if (entry.holders > 0 || (isKept && isCached)) return;
      if (isCached) entries.delete(key);
      entry.compiled.release();
    },
  };
}
