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
  return createAll(engine, entries, (value, name) => engine.upload(make(value, name)));
}

/**
 * Creates an engine's tensor for each entry, under the same name. On an error, the tensors that were created
 * are released.
 */
export function createAll<T extends TensorDesc, V>(
  engine: TensorEngine<T>,
  entries: ReadonlyMap<string, V>,
  make: (value: V, name: string) => T,
): Map<string, T> {
  const created = new Map<string, T>();
  try {
    for (const [name, value] of entries) created.set(name, make(value, name));
  } catch (error) {
    for (const tensor of created.values()) engine.release(tensor);
    throw error;
  }
  return created;
}
