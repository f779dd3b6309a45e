import { InvalidArgumentError } from '@tilewise/core';
import { trainConfig } from '../config.ts';
import type { Snapshot } from '../training/trainer.ts';
import { decodeSafetensors, encodeSafetensors } from './safetensors.ts';

/**
 * A snapshot as a safetensors file: weights by their names, what AdamW knows beside them, and the rest as
 * metadata.
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
 * Reads what `encodeCheckpoint` wrote.
 * @throws InvalidArgumentError for another file, and for a configuration that is none.
 */
export function decodeCheckpoint(file: Uint8Array): Snapshot {
  const { tensors, metadata } = decodeSafetensors(file);
  const { task, config, characters, seed, step } = metadata;
  if (task !== 'recall' && task !== 'text') {
    throw new InvalidArgumentError('file', 'was not written by this program: its metadata say no task');
  }
  try {
    return {
      task,
      config: trainConfig(JSON.parse(config)),
      characters: JSON.parse(characters),
      seed: BigInt(seed),
      step: Number(step),
      tensors,
    };
  } catch (error) {
    throw new InvalidArgumentError('file', `has metadata that cannot be read: ${error}`);
  }
}
