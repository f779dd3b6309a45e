import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { predictsNext } from '../architectures/architecture.ts';
import { isTarget } from '../model/adapter.ts';
import { downloadAll } from '../model/download.ts';
import { checkModel, type Model } from '../model/model.ts';
import { adapterFiles } from './peft-files.ts';

/**
 * The files of a model's adapter in peft's format, by name: `adapter_config.json` and
 * `adapter_model.safetensors`.
 * @throws InvalidArgumentError for a model without an adapter.
 */
export async function saveAdapter<T extends TensorDesc>(
  model: Model<T>,
): Promise<Readonly<Record<string, Uint8Array<ArrayBuffer>>>> {
  checkModel(model);
  const { adapter, engine, layers, definition } = model;
  if (!adapter) throw new InvalidArgumentError('model', 'has no adapter');
  const isTransposed = [...layers.linear].some(
    ([layer, { transposed }]) => transposed && isTarget(adapter.config, layer),
  );
  const tensors = await downloadAll(engine, new Map(Object.entries(adapter.tensors)));
  return adapterFiles(adapter.config, tensors, {
    transposed: isTransposed,
    taskType: predictsNext(definition) ? 'CAUSAL_LM' : null,
  });
}
