import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { checkFields } from '../checks/check-fields.ts';
import { type AdapterConfig, type AdapterWeights, type LoraConfig, loraRules } from '../model/adapter.ts';
import type { Model } from '../model/model.ts';
import { initialAdapter } from './initial-adapter.ts';

/**
 * The adapter that a run trains: that of the model, or a new one, which the model does not have yet.
 * @throws InvalidArgumentError for invalid options, and for options that differ from the model's adapter.
 */
export function trainedAdapter<T extends TensorDesc>(
  model: Model<T>,
  lora: LoraConfig,
  seed: number | bigint,
): AdapterWeights<T> {
  checkFields('lora', lora, loraRules);
  const { dropout = 0, rankStabilised = false } = lora;
  const config = { ...lora, dropout, rankStabilised };
  if (!model.adapter) return initialAdapter(model, config, seed);
  checkSameAdapter(config, model.adapter.config);
  return model.adapter;
}

/** Checks that options are those of the adapter that the model has: others would be ignored. */
function checkSameAdapter(wanted: AdapterConfig, own: AdapterConfig): void {
  for (const name of Object.keys(wanted) as (keyof AdapterConfig)[]) {
    // peft writes the targets, which are a set, in any order.
    const [given, has] = [wanted[name], own[name]].map(value =>
      JSON.stringify(Array.isArray(value) ? [...value].sort() : value),
    );
    if (given !== has)
      throw new InvalidArgumentError(
        `lora.${name}`,
        `is ${given}, but the model's adapter has ${has}: use ${has}, or load the model again`,
      );
  }
}
