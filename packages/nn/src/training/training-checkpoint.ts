import type { Tensor, TensorDesc } from '@tilewise/core';
import { type ByteSource, CheckpointError, encodeSafetensors, readSafetensors } from '../checkpoint/index.ts';
import type { Snapshot, Trainer } from './trainer.ts';

const STEPS = 'tilewise.steps';

/** A state of a run as a safetensors file. */
export async function saveCheckpoint<T extends TensorDesc>(
  trainer: Trainer<T>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { steps, tensors } = await trainer.snapshot();
  return encodeSafetensors(tensors, { [STEPS]: `${steps}` });
}

/** Reads what `saveCheckpoint` wrote. @throws CheckpointError for another file. */
export async function loadCheckpoint(source: ByteSource, file = 'the checkpoint'): Promise<Snapshot> {
  const tensors = new Map<string, Tensor>();
  let steps = Number.NaN;
  const onHeader = ({ metadata }: { readonly metadata: Readonly<Record<string, string>> }): void => {
    steps = Number(metadata[STEPS]);
  };
  for await (const [name, tensor] of readSafetensors(source, { file, onHeader })) tensors.set(name, tensor);
  if (Number.isSafeInteger(steps) && steps >= 0) return { steps, tensors };
  throw new CheckpointError({ file }, `is no state of a run: its metadata have no '${STEPS}'`);
}
