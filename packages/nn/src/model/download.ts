import { type Engine, Tensor, type TensorDesc } from '@tilewise/core';

/**
 * Host copies of an engine's tensors, by the same names. They are always copied, because a host engine's
 * `download` returns the tensor itself.
 */
export async function downloadAll<T extends TensorDesc>(
  engine: Engine<T>,
  tensors: ReadonlyMap<string, T>,
): Promise<Map<string, Tensor>> {
  const all = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) all.set(name, copied(await engine.download(tensor)));
  return all;
}

const copied = ({ data, dtype, shape, strides, offset }: Tensor): Tensor =>
  Tensor.wrap(data.slice(), { dtype, shape, strides, offset });
