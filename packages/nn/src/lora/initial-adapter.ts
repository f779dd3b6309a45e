import { InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import { type AdapterConfig, type AdapterWeights, isTarget } from '../model/adapter.ts';
import type { Model } from '../model/model.ts';
import { adapterShapes } from './peft-files.ts';

/**
 * An adapter that changes nothing yet: A is drawn from U(−1/√in, 1/√in), as in peft, and B is 0.
 * @throws InvalidArgumentError for a target that matches no layer. A file may have such a target, as in peft.
 */
export function initialAdapter<T extends TensorDesc>(
  { engine, layers }: Pick<Model<T>, 'engine' | 'layers'>,
  config: AdapterConfig,
  seed: number | bigint,
): AdapterWeights<T> {
  const linear = [...layers.linear.keys()];
  const unused = config.targets.find(target => !linear.some(layer => isTarget({ targets: [target] }, layer)));
  if (unused !== undefined) {
    const ends = new Set(linear.map(layer => layer.split('.').pop()));
    const rule = `has '${unused}', but the linear layers are ${[...ends].join(', ')}`;
    throw new InvalidArgumentError('lora.targets', rule);
  }
  const shapes = [...adapterShapes(config, layers.linear)];
  const tensors = shapes.map(([name, shape], n) => {
    if (name.endsWith('.lora_B.weight')) return [name, engine.upload(Tensor.zeros(shape))] as const;
    const bound = 1 / Math.sqrt(shape[1]);
    const stream = new PhiloxStream(seed, { subsequence: n });
    const values = Float32Array.from(
      { length: shape[0] * shape[1] },
      () => bound * (2 * stream.nextUniform() - 1),
    );
    return [name, engine.upload(Tensor.from(values, shape))] as const;
  });
  return { config, tensors: Object.fromEntries(tensors) };
}
