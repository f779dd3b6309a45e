import { InvalidArgumentError } from '@tilewise/core';
import { requireWhole, trainConfig } from '../config.ts';
import { parameterSpecs } from '../model/parameters.ts';
import { checkTensors } from '../training/parameter-set.ts';
import type { Snapshot } from '../training/trainer.ts';
import { decodeSafetensors, encodeSafetensors } from './safetensors.ts';

/**
 * A snapshot as a safetensors file: the weights and the state of AdamW as tensors, the rest as metadata.
 */
export function encodeCheckpoint({ tensors, task, config, characters, seed, step }: Snapshot): Uint8Array {
  const metadata = {
    task,
    config: JSON.stringify(config),
    characters: JSON.stringify(characters),
    seed: `${seed}`,
    step: `${step}`,
  };
  return encodeSafetensors({ tensors, metadata });
}

/**
 * Reads a file of `encodeCheckpoint`. The file may come from a stranger: every field is checked, and the
 * tensors must be those of the configuration.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError naming the field or tensor and its
 * rule.
 */
export function decodeCheckpoint(file: Uint8Array): Snapshot {
  const { tensors, metadata } = decodeSafetensors(file);
  const { task, seed, step } = metadata;
  if (task !== 'recall' && task !== 'text') {
    throw new InvalidArgumentError('file', 'was not written by this program: its metadata say no task');
  }
  const config = trainConfig(parsed('config', metadata.config) as object);
  const characters = parsed('characters', metadata.characters);
  if (!areCharacters(characters)) {
    throw new InvalidArgumentError('characters', 'must be a list of different characters');
  }
  // Every layer has parameters, so that more layers than tensors cannot be right, and need no list of names.
  const shape = { ...config, vocabulary: characters.length, layers: Math.min(config.layers, tensors.size) };
  const specs = parameterSpecs(shape);
  checkTensors(specs, tensors);
  const numbers = { step: wholeNumber('step', step, 2n ** 53n), seed: wholeNumber('seed', seed, 2n ** 64n) };
  requireWhole('step', Number(numbers.step), 0);
  return { task, config, characters, seed: numbers.seed, step: Number(numbers.step), tensors };
}

/** The value of a metadata entry in JSON. */
function parsed(name: string, text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch (cause) {
    throw new InvalidArgumentError('file', `has metadata that cannot be read: ${name} is no JSON`, { cause });
  }
}

function areCharacters(value: unknown): value is string[] {
  if (!Array.isArray(value) || new Set(value).size !== value.length || value.length === 0) return false;
  return value.every(one => typeof one === 'string' && [...one].length === 1);
}

function wholeNumber(name: string, text: string | undefined, limit: bigint): bigint {
  const value = /^\d{1,20}$/.test(text ?? '') ? BigInt(text ?? '') : limit;
  if (value < limit) return value;
  throw new InvalidArgumentError(name, `must be a whole number from 0 to ${limit - 1n}, got ${text}`);
}
