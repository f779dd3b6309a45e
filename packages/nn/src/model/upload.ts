import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/**
 * Uploads a tensor for each entry, under the same name. The host holds one tensor at a time, unless `make`
 * returns stored ones. On an error, what was uploaded is released.
 */
export function uploadAll<T extends TensorDesc, V>(
  engine: TensorEngine<T>,
  entries: ReadonlyMap<string, V>,
  make: (value: V, name: string) => Tensor,
): Map<string, T> {
  return holdAll(engine, entries, (value, name) => engine.upload(make(value, name)));
}

/** An engine's tensor for each entry, under the same name. On an error, those made before are released. */
export function holdAll<T extends TensorDesc, V>(
  engine: TensorEngine<T>,
  entries: ReadonlyMap<string, V>,
  make: (value: V, name: string) => T,
): Map<string, T> {
  const held = new Map<string, T>();
  try {
    for (const [name, value] of entries) held.set(name, make(value, name));
  } catch (error) {
    for (const tensor of held.values()) engine.release(tensor);
    throw error;
  }
  return held;
}
