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
  /** Reads a range with a function, and then closes it: a file whose end nobody reads would stay open. */
  const readRange = async <R>(
    begin: number,
    end: number,
    read: (bytes: ByteReader) => Promise<R>,
  ): Promise<R> => {
    const bytes = new ByteReader(chunksOf(await open(begin, end)));
    try {
      return await read(bytes);
    } finally {
      await bytes.close();
    }
  };
  const load = (begin: number, length: number): Promise<Uint8Array> =>
    readRange(begin, begin + length, async bytes => {
      const loaded = new Uint8Array(length);
      await bytes.fill(loaded, truncatedHeader(file, length));
      return loaded;
    });
  const length = headerLength(file, await load(0, LENGTH_BYTES));
  const header = parseHeader(file, await load(LENGTH_BYTES, length));
  const data = LENGTH_BYTES + length;
  const byName = new Map(header.tensors.map(stored => [stored.name, stored]));
  return {
    header,
    async read(name) {
      const tensor = byName.get(name);
      if (!tensor) throw new CheckpointError({ file, tensor: name }, 'is not in the file');
      return readRange(data + tensor.begin, data + tensor.end, bytes =>
        readStoredTensor(file, tensor, bytes),
      );
    },
  };
}
