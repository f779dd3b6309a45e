import type { Tensor } from '@tilewise/core';
import { checkArgument } from '../../checks/check-fields.ts';
import { callback } from '../../checks/rules.ts';
import { ByteReader } from '../sources/byte-reader.ts';
import { chunksOf, type OpenRange } from '../sources/byte-stream.ts';
import { CheckpointError } from '../sources/checkpoint-error.ts';
import { type Header, headerLength, LENGTH_BYTES, parseHeader, truncatedHeader } from './header.ts';
import { readStoredTensor } from './read-safetensors.ts';

/** A safetensors file from which single tensors can be read. */
export interface RangedSafetensors {
  /** Names, dtypes and shapes of all tensors. */
  readonly header: Header;
  /**
   * Reads one tensor by name.
   * @throws CheckpointError for a tensor that is missing or truncated.
   */
  read(name: string): Promise<Tensor>;
}

/**
 * Reads the header of a safetensors file, and then only the tensors that are requested.
 * @throws CheckpointError for an invalid or truncated header; InvalidArgumentError if `open` is not a
 * function.
 */
export async function openSafetensors(open: OpenRange, file = 'the file'): Promise<RangedSafetensors> {
  checkArgument('open', open, callback);
  const part = async (begin: number, end: number): Promise<ByteReader> =>
    new ByteReader(chunksOf(await open(begin, end)));
  const load = async (begin: number, length: number): Promise<Uint8Array> => {
    const bytes = new Uint8Array(length);
    await (await part(begin, begin + length)).fill(bytes, truncatedHeader(file, length));
    return bytes;
  };
  const length = headerLength(file, await load(0, LENGTH_BYTES));
  const header = parseHeader(file, await load(LENGTH_BYTES, length));
  const data = LENGTH_BYTES + length;
  const byName = new Map(header.tensors.map(stored => [stored.name, stored]));
  return {
    header,
    async read(name) {
      const tensor = byName.get(name);
      if (!tensor) throw new CheckpointError({ file, tensor: name }, 'is not in the file');
      return readStoredTensor(file, tensor, await part(data + tensor.begin, data + tensor.end));
    },
  };
}
