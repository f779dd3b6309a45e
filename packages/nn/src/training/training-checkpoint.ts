import { Tensor, type TensorDesc, writeSafetensors } from '@tilewise/core';
import { checkArgument } from '../checks/check-fields.ts';
import { callback, hasMethod, integerFrom } from '../checks/rules.ts';
import { type ByteSource, CheckpointError, readSafetensors } from '../files/checkpoint/index.ts';
import { bytesOf } from '../model/bytes.ts';
import { downloadCopy } from '../model/download.ts';
import { nextTurn } from '../model/next-turn.ts';
import { isLossScale, type LossScale } from './loss-scale.ts';
import type { Snapshot, Trainer } from './trainer-options.ts';

/** The number of steps done; the packages that `exportTorch` writes read and write the same entry. */
const STEPS = 'step';
/** The loss scale, the number of steps since the scale changed, and the number of skipped steps. */
const LOSS_SCALE = 'loss_scale';

/**
 * Writes a state of a run as a safetensors file, in chunks: the header, then each tensor, which is downloaded
 * when its turn comes. So the host holds one tensor at a time, not the state, and a file may be larger than
 * the largest array. Calls of the trainer wait until the file is written.
 * @param write takes the next bytes and the size of the whole file; the next chunk waits for its promise.
 * @param metadata your own strings to store with it, under other names than `step` and `loss_scale`, which
 * the file uses itself.
 * @throws InvalidArgumentError for anything but a trainer and a function; the errors of `write`.
 */
export async function writeCheckpoint<T extends TensorDesc>(
  trainer: Trainer<T>,
  write: (chunk: Uint8Array<ArrayBuffer>, bytes: number) => unknown,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  checkArgument('trainer', trainer, { rule: 'must be a trainer', holds: x => hasMethod(x, 'withState') });
  checkArgument('write', write, callback);
  return trainer.withState(async ({ steps, lossScale, tensors }, engine) => {
    const scale = lossScale && {
      [LOSS_SCALE]: `${lossScale.value} ${lossScale.steady} ${lossScale.skipped ?? 0}`,
    };
    // The header has only names and shapes, so that of broadcast zeros is the same.
    const shapes = [...tensors].map(([name, { shape }]) => [name, Tensor.zeros([]).expand(shape)] as const);
    const [header] = writeSafetensors(new Map(shapes), { ...metadata, [STEPS]: `${steps}`, ...scale });
    const bytes = header.length + bytesOf(tensors.values());
    await write(header as Uint8Array<ArrayBuffer>, bytes);
    // All are f32, so the file has them in the order of their names.
    for (const name of [...tensors.keys()].sort()) {
      const { data } = await downloadCopy(engine, tensors.get(name) as T);
      await write(new Uint8Array(data.buffer as ArrayBuffer), bytes);
      await nextTurn();
    }
  });
}

/**
 * A state of a run as a safetensors file, which `writeCheckpoint` writes in chunks. Takes the size of the
 * file, and of its largest tensor, on the host.
 * @param metadata as for `writeCheckpoint`.
 * @throws InvalidArgumentError for anything but a trainer; TilewiseError `OUT_OF_MEMORY` for a file that is
 * larger than the largest array of this host.
 */
export async function saveCheckpoint<T extends TensorDesc>(
  trainer: Trainer<T>,
  metadata?: Readonly<Record<string, string>>,
): Promise<Uint8Array<ArrayBuffer>> {
  let file = new Uint8Array();
  let at = 0;
  const add = (chunk: Uint8Array, bytes: number): void => {
    if (at === 0) file = Tensor.zeros([bytes], { dtype: 'u8' }).data as typeof file;
    file.set(chunk, at);
    at += chunk.length;
  };
  await writeCheckpoint(trainer, add, metadata);
  return file;
}

/** A state of a run, and the strings that were stored with it. */
export interface SavedRun extends Snapshot {
  /** The strings by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Reads a file that `saveCheckpoint` wrote.
 * @param file the name of the file in errors.
 * @throws CheckpointError for any other file; InvalidArgumentError for a value that is not a source of bytes.
 */
export async function loadCheckpoint(source: ByteSource, file = 'the checkpoint'): Promise<SavedRun> {
  const tensors = new Map<string, Tensor>();
  let metadata: SavedRun['metadata'] = {};
  const onHeader = (header: Pick<SavedRun, 'metadata'>): void => {
    ({ metadata } = header);
  };
  for await (const [name, tensor] of readSafetensors(source, { file, onHeader })) tensors.set(name, tensor);
  const steps = Number(metadata[STEPS]);
  if (`${steps}` !== metadata[STEPS] || !integerFrom(0).holds(steps))
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
