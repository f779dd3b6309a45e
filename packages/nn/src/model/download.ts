import type { Engine, Tensor, TensorDesc } from '@tilewise/core';

/** Host tensors of an engine's, by the same names. */
export async function downloadAll<T extends TensorDesc>(
  engine: Engine<T>,
  tensors: ReadonlyMap<string, T>,
): Promise<Map<string, Tensor>> {
  const all = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) all.set(name, await engine.download(tensor));
  return all;
}
