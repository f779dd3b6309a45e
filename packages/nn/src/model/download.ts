import { type Engine, Tensor, type TensorDesc } from '@tilewise/core';

/**
 * Host tensors of an engine's, by the same names. They are copies: an engine of the host downloads a tensor
 * as the tensor itself.
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
