import type { Tensor } from '@tilewise/core';
import { checkArgument } from '../../checks/check-fields.ts';
import { CheckpointError } from '../sources/checkpoint-error.ts';
import { filesRule, isObject, type ModelFiles, readJson } from '../sources/model-files.ts';
import { readSafetensors } from './read-safetensors.ts';

/** A tensor of a checkpoint, and the file that it is in. */
export interface CheckpointTensor {
  /** The name of the file, such as `model.safetensors`. */
  readonly file: string;
  /** The name of the tensor in the file. */
  readonly name: string;
  /** The tensor, on the host. */
  readonly tensor: Tensor;
}

const whole = 'model.safetensors';
const index = 'model.safetensors.index.json';

/**
 * The tensors of a checkpoint, one after the other as their bytes arrive: from `model.safetensors`, or from
 * the shards that `model.safetensors.index.json` lists.
 * @param select whether a tensor is wanted; the bytes of others are skipped, and shards without wanted
 * tensors are not opened.
 * @throws CheckpointError for missing or damaged files, and if the index and a shard disagree;
 * InvalidArgumentError for an argument that is not the files of a model.
 */
export async function* readCheckpoint(
  files: ModelFiles,
  select: (name: string) => boolean = () => true,
): AsyncGenerator<CheckpointTensor, void, undefined> {
  checkArgument('files', files, filesRule);
  const source = await files.open(whole);
  if (source !== null) {
    for await (const [name, tensor] of readSafetensors(source, { file: whole, select })) {
      yield { file: whole, name, tensor };
    }
    return;
  }
  const json = await readJson(files, index);
  if (json === null) throw new CheckpointError({ file: files.name }, `has neither ${whole} nor ${index}`);
  for (const [file, names] of shardsOf(json)) {
    if (names.some(select)) yield* readShard(files, file, new Set(names), select);
  }
}

/** The tensors of each shard, by file name. */
function shardsOf({ weight_map: map }: Readonly<Record<string, unknown>>): ReadonlyMap<string, string[]> {
  if (!isObject(map)) {
    throw new CheckpointError({ file: index }, "has no 'weight_map' of files by the names of tensors");
  }
  const shards = new Map<string, string[]>();
  for (const [tensor, file] of Object.entries(map)) {
    if (typeof file !== 'string' || file === '' || /[\\/]|^\.\.?$/.test(file)) {
      throw new CheckpointError(
        { file: index, tensor },
        `is in ${JSON.stringify(file)}, which is not a file next to the index`,
      );
    }
    const names = shards.get(file);
    if (names) names.push(tensor);
    else shards.set(file, [tensor]);
  }
  return shards;
}

async function* readShard(
  files: ModelFiles,
  file: string,
  listed: ReadonlySet<string>,
  select: (name: string) => boolean,
): AsyncGenerator<CheckpointTensor, void, undefined> {
  const source = await files.open(file);
  if (source === null) throw new CheckpointError({ file }, `is missing, but ${index} lists it`);
  const tensors = readSafetensors(source, {
    file,
    select,
    onHeader: ({ tensors: held }) => {
      const names = new Set(held.map(({ name }) => name));
      const missing = [...listed].find(name => !names.has(name));
      if (missing !== undefined)
        throw new CheckpointError({ file, tensor: missing }, `is missing, but ${index} lists it`);
      const unlisted = [...names].find(name => !listed.has(name));
      if (unlisted !== undefined)
        throw new CheckpointError({ file, tensor: unlisted }, `is not listed in ${index}`);
    },
  });
  for await (const [name, tensor] of tensors) yield { file, name, tensor };
}
