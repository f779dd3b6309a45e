import { type DType, dtypeInfo, Tensor, type TypedArray } from '@tilewise/core';
import { checkFields, type FieldRules } from '../../checks/check-fields.ts';
import { callback, text } from '../../checks/rules.ts';
import { ByteReader } from '../sources/byte-reader.ts';
import { type ByteSource, chunksOf } from '../sources/byte-stream.ts';
import { CheckpointError, type CheckpointPlace } from '../sources/checkpoint-error.ts';
import {
  type Header,
  headerLength,
  LENGTH_BYTES,
  parseHeader,
  type StoredTensor,
  truncatedHeader,
} from './header.ts';

/** How a safetensors file is read. */
export interface ReadOptions {
  /** The name of the file in errors. */
  readonly file?: string | undefined;
  /** Whether a tensor is wanted; the bytes of others are skipped. Default: all are wanted. */
  readonly select?: ((name: string) => boolean) | undefined;
  /** Receives the header before the first tensor is read. */
  readonly onHeader?: ((header: Header) => void) | undefined;
}

const readRules: FieldRules<ReadOptions> = { file: text, select: callback, onHeader: callback };

/**
 * Reads a safetensors file as a stream: each tensor is yielded as soon as its last byte has arrived, in file
 * order. Its bytes are written once, into the tensor's memory, so the whole file is never in memory. 16-bit
 * and 64-bit integers are read as i32.
 * @throws InvalidArgumentError for invalid options; CheckpointError naming the tensor, for a file that is
 * truncated, continues after its last tensor, or has an invalid header.
 */
export async function* readSafetensors(
  source: ByteSource,
  options: ReadOptions = {},
): AsyncGenerator<readonly [name: string, tensor: Tensor], void, undefined> {
  checkFields('options', options, readRules);
  const { file = 'the file', select = () => true, onHeader } = options;
  const bytes = new ByteReader(chunksOf(source));
  try {
    const first = new Uint8Array(LENGTH_BYTES);
    await bytes.fill(first, got => {
      throw new CheckpointError({ file }, `is not a safetensors file: it has ${got} bytes`);
    });
    const length = headerLength(file, first);
    const json = new Uint8Array(length);
    await bytes.fill(json, truncatedHeader(file, length));
    const header = parseHeader(file, json);
    onHeader?.(header);
    for (const tensor of header.tensors) {
      if (select(tensor.name)) yield [tensor.name, await readStoredTensor(file, tensor, bytes)];
      else await bytes.skip(tensor.end - tensor.begin, truncation(file, tensor));
    }
    if (await bytes.hasMore())
      throw new CheckpointError(
        { file },
        `continues after its last tensor, which ends at byte ${header.dataBytes}`,
      );
  } finally {
    await bytes.close();
  }
}

/** Throws an error saying that the bytes of a tensor end too early. */
function truncation(file: string, { name, begin, end }: StoredTensor): (got: number) => never {
  return got => {
    const place = { file, tensor: name };
    throw new CheckpointError(
      place,
      `is truncated: it has ${end - begin} bytes, of which ${got} are present`,
    );
  };
}

/** The bytes of the file that a conversion buffers, a multiple of every element size. */
const NARROW_BYTES = 1 << 16;

/** The tensor whose bytes come next. */
export async function readStoredTensor(
  file: string,
  tensor: StoredTensor,
  bytes: ByteReader,
): Promise<Tensor> {
  const { name, stored, shape, begin, end } = tensor;
  const place = { file, tensor: name };
  const truncated = truncation(file, tensor);
  const { dtype, narrow } = stored;
  const count = (end - begin) / stored.bytes;
  const values = allocate(place, dtype, count);
  if (!narrow) {
    await bytes.fill(new Uint8Array(values.buffer), truncated);
    return Tensor.wrap(values, { dtype, shape });
  }
  const part = new Uint8Array(Math.min(NARROW_BYTES, end - begin));
  const view = new DataView(part.buffer);
  for (let done = 0; done < count; ) {
    const elements = Math.min(part.length / stored.bytes, count - done);
    const read = done * stored.bytes;
    await bytes.fill(part.subarray(0, elements * stored.bytes), got => truncated(read + got));
    for (let n = 0; n < elements; n++) {
      const value = narrow(view, n * stored.bytes);
      if (value === undefined) {
        throw new CheckpointError(
          place,
          `has an integer that does not fit into 32 bits, element ${done + n}`,
        );
      }
      values[done + n] = value;
    }
    done += elements;
  }
  return Tensor.wrap(values, { dtype, shape });
}

/** A header may ask for more memory than is available. */
function allocate(place: CheckpointPlace, dtype: DType, count: number): TypedArray {
  try {
    return dtypeInfo[dtype].allocate(count);
  } catch (cause) {
    throw new CheckpointError(
      { ...place, cause },
      `needs more memory than is available: ${count} elements of ${dtype}`,
    );
  }
}
