import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { SharedPartition } from './shared-partition.ts';

/**
 * The maximum number of compiled partitions in an engine's cache; the least recently used is dropped first.
 */
export const COMPILED_PARTITION_CAPACITY = 1024;

/** One holder's reference to a compiled partition; the holder must release it. */
export interface Holding<T extends TensorDesc> {
  readonly shared: SharedPartition<T>;
  letGo(): void;
}

/** A compiled partition and its number of holders. */
interface Entry {
  readonly compiled: SharedPartition<TensorDesc>;
  holders: number;
}

/** The compiled partitions of each engine, by a key of what they were compiled from. */
const caches = new WeakMap<object, Map<string, Entry>>();

/**
 * Returns a compiled partition of an engine to a holder. When the last holder has released it, its memory is
 * freed, unless that holder asks to keep it for later requests; then its memory is freed when the cache drops
 * it.
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
  // A Map keeps insertion order, so the entry is inserted again at the end, as the most recently used.
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
      if (entry.holders > 0) return;
      const isCached = entries.get(key) === entry;
      if (isKept && isCached) entry.compiled.unbind();
      else {
        if (isCached) entries.delete(key);
        entry.compiled.release();
      }
    },
  };
}
