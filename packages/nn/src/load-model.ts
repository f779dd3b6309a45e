import type { TensorDesc } from '@tilewise/core';
import { readModel } from './architectures/read-model.ts';
import { checkFields } from './checks/check-fields.ts';
import { signalRule } from './checks/rules.ts';
import { CheckpointError } from './files/sources/checkpoint-error.ts';
import { type ModelFiles, readJson } from './files/sources/model-files.ts';
import { type GenerateOptions, generate } from './generation/generate.ts';
import { readGenerationConfig } from './generation/generation-config.ts';
import { logitsOf } from './model/logits.ts';
import { type LoadOptions, loadRules, Model } from './model/model.ts';
import { layersOf, loadWeights } from './model/weights.ts';

/** A model that can generate text. */
export class LoadedModel<T extends TensorDesc = TensorDesc> extends Model<T> {
  /** The generation defaults from `generation_config.json`. */
  generationDefaults: Partial<GenerateOptions> = {};

  /**
   * Continues a prompt, and yields each token as soon as it is chosen. Options that are not given come from
   * `generation_config.json`; without that file, the most likely tokens are chosen, at most 20 of them.
   * @throws the errors of `generateBatch`.
   */
  generate(
    prompt: ArrayLike<number>,
    options: Partial<GenerateOptions> = {},
  ): AsyncGenerator<number, void, undefined> {
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    return generate(this, prompt, { maxNewTokens: 20, ...this.generationDefaults, ...given });
  }
}

/** How a published model is loaded. */
export interface LoadModelOptions<T extends TensorDesc> extends LoadOptions<T> {
  /** Stops loading before the next weight; `loadModel` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Loads a published model: `config.json` determines the architecture; `model.safetensors` or its shards hold
 * the weights.
 * @throws InvalidArgumentError for invalid options; ConfigError for an invalid or unsupported configuration;
 * CheckpointError for invalid or unsupported files; the signal's reason. After an error, no weight stays on
 * the engine.
 */
export async function loadModel<T extends TensorDesc>(
  files: ModelFiles,
  options: LoadModelOptions<T>,
): Promise<LoadedModel<T>> {
  checkFields('options', options, { ...loadRules, signal: signalRule });
  const { engine, autocast } = options;
  const json = await readJson(files, 'config.json');
  if (json === null)
    throw new CheckpointError({ file: files.name }, 'has no config.json: pass the files of a model');
  const definition = readModel(json);
  const layers = layersOf(definition);
  const generationDefaults = await readGenerationConfig(files, json);
  const weights = await loadWeights(files, definition, layers.weights, options);
  const model = new LoadedModel(engine, definition, layers, weights, logitsOf(definition), autocast);
  model.generationDefaults = generationDefaults;
  return model;
}
