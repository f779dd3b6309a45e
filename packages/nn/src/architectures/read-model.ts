import { checkObject } from '@tilewise/core';
import { ConfigReader } from '../files/config/config-reader.ts';
import type { Architecture, ModelDefinition } from './architecture.ts';
import { bert } from './bert.ts';
import { gemma1, gemma2, gemma3 } from './decoders/gemma.ts';
import { gpt2 } from './decoders/gpt2.ts';
import { llama } from './decoders/llama.ts';
import { mistral } from './decoders/mistral.ts';
import { phi3 } from './decoders/phi3.ts';
import { qwen2 } from './decoders/qwen2.ts';
import { qwen3 } from './decoders/qwen3.ts';
import { vit } from './vit.ts';

/** Every architecture that `readModel` knows. */
export const architectures: readonly Architecture[] = [
  // A new architecture is a file and a line here.
  gpt2,
  llama,
  mistral,
  qwen2,
  qwen3,
  gemma1,
  gemma2,
  gemma3,
  phi3,
  bert,
  vit,
];

/**
 * The model that a `config.json` describes.
 * @throws InvalidArgumentError for a value that is not an object; ConfigError for an unknown `model_type`,
 * and for any option that is wrong or unknown.
 */
export function readModel(json: Readonly<Record<string, unknown>>): ModelDefinition {
  checkObject('config', json);
  const config = new ConfigReader(json);
  const byType = Object.fromEntries(architectures.map(known => [known.modelType, known]));
  const model = byType[config.oneOf('model_type', Object.keys(byType))].read(config);
  config.finish();
  return model;
}
