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
  return releasedOnError(engine, created, () => {
    for (const [name, value] of entries) created.set(name, make(value, name));
    return created;
  });
}

/**
 * Calls a function that creates tensors. If it throws, or if its promise is rejected, the tensors are
 * released.
 * @param created the tensors so far.
 */
export function releasedOnError<T extends TensorDesc, R>(
  engine: TensorEngine<T>,
  created: { values(): Iterable<T> },
  create: () => R,
): R {
  const fail = (error: unknown): never => {
    releaseAll(engine, created.values());
    throw error;
  };
  try {
    const result = create();
    return result instanceof Promise ? (result.catch(fail) as R) : result;
  } catch (error) {
    return fail(error);
  }
}

/** Releases tensors of an engine. */
export function releaseAll<T extends TensorDesc>(engine: TensorEngine<T>, tensors: Iterable<T>): void {
  for (const tensor of tensors) engine.release(tensor);
}
