import { InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import { fillUniform } from '@tilewise/philox';
import { type AdapterConfig, type AdapterWeights, isTarget } from '../model/adapter.ts';
import type { Model } from '../model/model.ts';
import { uploadAll } from '../model/upload.ts';
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
  let stream = 0;
  const tensors = uploadAll(engine, adapterShapes(config, layers.linear), ([rows, columns], name) => {
    const subsequence = stream++;
    const tensor = Tensor.zeros([rows, columns]);
    if (name.endsWith('.lora_B.weight')) return tensor;
    const bound = 1 / Math.sqrt(columns);
    const values = fillUniform(tensor.data as Float32Array, { seed, subsequence });
    for (let n = 0; n < values.length; n++) values[n] = bound * (2 * values[n] - 1);
    return tensor;
  });
  return { config, tensors: Object.fromEntries(tensors) };
}
