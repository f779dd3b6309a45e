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
  const uploaded = new Map<string, T>();
  try {
    for (const [name, value] of entries) uploaded.set(name, engine.upload(make(value, name)));
  } catch (error) {
    for (const tensor of uploaded.values()) engine.release(tensor);
    throw error;
  }
  return uploaded;
}
