import type { Tensor, TensorDesc } from '@tilewise/core';
import {
  type ByteSource,
  CheckpointError,
  encodeSafetensors,
  readSafetensors,
} from '../files/checkpoint/index.ts';
import { isLossScale, type LossScale } from './loss-scale.ts';
import type { Snapshot, Trainer } from './trainer-options.ts';

/** The number of steps done; the packages that `exportTorch` writes read and write the same entry. */
const STEPS = 'step';
/** The loss scale, the number of steps since the scale changed, and the number of skipped steps. */
const LOSS_SCALE = 'loss_scale';

/**
 * A state of a run as a safetensors file.
 * @param metadata your own strings to store with it, under other names than `step` and `loss_scale`, which
 * the file uses itself.
 */
export async function saveCheckpoint<T extends TensorDesc>(
  trainer: Trainer<T>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { steps, lossScale, tensors } = await trainer.snapshot();
  const scale = lossScale && {
    [LOSS_SCALE]: `${lossScale.value} ${lossScale.steady} ${lossScale.skipped ?? 0}`,
  };
  return encodeSafetensors(tensors, { ...metadata, [STEPS]: `${steps}`, ...scale });
}

/** A state of a run, and the strings that were stored with it. */
export interface SavedRun extends Snapshot {
  /** The strings by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Reads a file that `saveCheckpoint` wrote. @throws CheckpointError for any other file. */
export async function loadCheckpoint(source: ByteSource, file = 'the checkpoint'): Promise<SavedRun> {
  const tensors = new Map<string, Tensor>();
  let metadata: SavedRun['metadata'] = {};
  const onHeader = (header: Pick<SavedRun, 'metadata'>): void => {
    ({ metadata } = header);
  };
  for await (const [name, tensor] of readSafetensors(source, { file, onHeader })) tensors.set(name, tensor);
  const steps = Number(metadata[STEPS]);
  if (!Number.isSafeInteger(steps) || steps < 0)
    throw new CheckpointError({ file }, `is not the state of a run: its metadata has no valid '${STEPS}'`);
  const lossScale = lossScaleOf(metadata[LOSS_SCALE], file);
  return { steps, tensors, metadata, ...(lossScale && { lossScale }) };
}

function lossScaleOf(text: string | undefined, file: string): LossScale | null {
  if (text === undefined) return null;
  const [value, steady, skipped = 0] = text.split(' ').map(Number);
  if (isLossScale({ value, steady, skipped })) return { value, steady, skipped };
  throw new CheckpointError({ file }, `has the metadata '${LOSS_SCALE}', which must be numbers, got ${text}`);
}
