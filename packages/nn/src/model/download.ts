import type { Engine, Tensor, TensorDesc } from '@tilewise/core';

/**
 * A host copy of an engine's tensor, in its own memory: a host engine's `download` returns the tensor
 * itself, which may be a small view of a large one.
 */
export async function downloadCopy<T extends TensorDesc>(engine: Engine<T>, tensor: T): Promise<Tensor> {
  return (await engine.download(tensor)).contiguous();
}

/** Host copies of an engine's tensors, by the same names. */
export async function downloadAll<T extends TensorDesc>(
  engine: Engine<T>,
  tensors: ReadonlyMap<string, T>,
): Promise<Map<string, Tensor>> {
  const all = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) all.set(name, await downloadCopy(engine, tensor));
  return all;
}
