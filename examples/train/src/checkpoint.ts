import { InvalidArgumentError, sameShape } from '@tilewise/core';
import { loadCheckpoint, parameterShapes, type SavedRun } from '@tilewise/nn';
import { type TrainConfig, trainConfig } from './config.ts';
import type { Dataset } from './data/dataset.ts';
import { decoderOf } from './model.ts';

/** A saved run. */
export interface Checkpoint extends SavedRun {
  readonly task: Dataset['task'];
  readonly config: TrainConfig;
  readonly characters: readonly string[];
  readonly seed: bigint;
}

/**
 * Parses a file from the `save` of a run. The file may come from a stranger, so every field is checked, and
 * the weights must match the configuration.
 * @param name the name of the file in errors.
 * @throws InvalidArgumentError or CheckpointError naming the field or tensor and its rule.
 */
export async function decodeCheckpoint(file: Uint8Array, name = 'file'): Promise<Checkpoint> {
  const saved = await loadCheckpoint(file, name);
  const { task, seed = '', ...texts } = saved.metadata;
  if (task !== 'recall' && task !== 'text')
    throw new InvalidArgumentError(name, 'was not written by this program: its metadata has no task');
  if (!/^\d{1,20}$/.test(seed) || BigInt(seed) >= 2n ** 64n)
    throw new InvalidArgumentError('seed', `must be a whole number below 2^64, got ${seed}`);
  const config = trainConfig(parsed('config', texts.config) as object);
  const characters = parsed('characters', texts.characters);
  if (!areCharacters(characters))
    throw new InvalidArgumentError('characters', 'must be a list of different characters');
  // Every layer has weights, so a model cannot have more layers than tensors; this is checked before the list
  // of names is built.
  const listed = { ...config, layers: Math.min(config.layers, saved.tensors.size) };
  for (const [weight, shape] of parameterShapes(decoderOf(listed, characters.length))) {
    const tensor = saved.tensors.get(weight);
    if (!tensor || !sameShape(tensor.shape, shape) || tensor.dtype !== 'f32')
      throw new InvalidArgumentError(name, `must have '${weight}', f32 of [${shape}]`);
  }
  return { ...saved, task, config, characters, seed: BigInt(seed) };
}

/** The parsed JSON of a metadata entry. */
function parsed(name: string, text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidArgumentError('file', `has metadata that cannot be read: ${name} is not JSON`, {
      cause,
    });
  }
}

function areCharacters(value: unknown): value is string[] {
  if (!Array.isArray(value) || new Set(value).size !== value.length || value.length === 0) return false;
  return value.every(one => typeof one === 'string' && [...one].length === 1);
}
