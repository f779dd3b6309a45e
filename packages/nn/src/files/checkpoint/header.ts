import { listText } from '@tilewise/core';
import { CheckpointError } from '../sources/checkpoint-error.ts';
import { isObject, parseObject } from '../sources/model-files.ts';
import { type StoredDType, storedDTypes } from './stored-dtype.ts';

/** A tensor as the header of a safetensors file describes it. */
export interface StoredTensor {
  /** The name of the tensor. */
  readonly name: string;
  /** Its dtype in the file, and the dtype that it is read as. */
  readonly stored: StoredDType;
  /** The extents. */
  readonly shape: readonly number[];
  /** The offset of the first byte within the data of the file, which follow the header. */
  readonly begin: number;
  /** The offset of the byte after the last. */
  readonly end: number;
}

/** The header of a safetensors file. */
export interface Header {
  /** In the order of their bytes. */
  readonly tensors: readonly StoredTensor[];
  /** The strings of the field `__metadata__`; empty if the file has none. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The number of bytes that follow the header. */
  readonly dataBytes: number;
}

/** The bytes before the header: its length as a 64-bit integer. */
export const LENGTH_BYTES = 8;
/** The limit of the reference implementation of the format. */
const MAX_HEADER_BYTES = 100_000_000;

/**
 * The length of the header, in bytes.
 * @throws CheckpointError for a length that no safetensors file can have.
 */
export function headerLength(file: string, first: Uint8Array): number {
  const length = new DataView(first.buffer, first.byteOffset, LENGTH_BYTES).getBigUint64(0, true);
  if (length >= 2n && length <= MAX_HEADER_BYTES) return Number(length);
  throw new CheckpointError(
    { file },
    `is not a safetensors file: its header cannot have ${length} bytes (2 to ${MAX_HEADER_BYTES})`,
  );
}

/** Throws an error saying that a file ends within its header, after `got` bytes of it. */
export function truncatedHeader(file: string, length: number): (got: number) => never {
  return got => {
    const rule = `is truncated: its header has ${length} bytes, of which ${got} are present`;
    throw new CheckpointError({ file }, rule);
  };
}

/**
 * Reads the header of a safetensors file and checks that the tensors fill the data without gaps or overlaps.
 * @param text the bytes of the header.
 * @throws CheckpointError naming the file, and the tensor whose description is invalid.
 */
export function parseHeader(file: string, text: Uint8Array): Header {
  const read = (): string => new TextDecoder('utf-8', { fatal: true }).decode(text);
  const entries = parseObject(file, read, 'is not a safetensors file: its header is not a JSON object');
  let metadata: Readonly<Record<string, string>> = {};
  const tensors: StoredTensor[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    if (name === '__metadata__') metadata = textsOf(file, entry);
    else tensors.push(tensorOf(file, name, entry));
  }
  tensors.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  for (const { name: tensor, begin, end } of tensors) {
    if (begin !== covered) {
      const how =
        begin < covered ? 'overlaps the tensor before it' : 'leaves a gap after the tensor before it';
      throw new CheckpointError({ file, tensor }, `${how}: it starts at byte ${begin}, not ${covered}`);
    }
    covered = end;
  }
  return { tensors, metadata, dataBytes: covered };
}

function textsOf(file: string, value: unknown): Readonly<Record<string, string>> {
  if (isObject(value) && Object.values(value).every(text => typeof text === 'string')) {
    return value as Record<string, string>;
  }
  throw new CheckpointError({ file }, "has a '__metadata__' that is not an object of strings");
}

function tensorOf(file: string, tensor: string, entry: unknown): StoredTensor {
  const fail = (rule: string): never => {
    throw new CheckpointError({ file, tensor }, rule);
  };
  if (!isObject(entry)) return fail('is not described by an object');
  const { dtype, shape, data_offsets: offsets } = entry;
  const stored =
    typeof dtype === 'string' && Object.hasOwn(storedDTypes, dtype) ? storedDTypes[dtype] : undefined;
  if (!stored) {
    const known = Object.keys(storedDTypes).join(', ');
    return fail(`has the dtype ${JSON.stringify(dtype)}, which is not one of ${known}`);
  }
  if (!isSizes(shape)) return fail(`has an invalid shape: ${listText(shape)}`);
  if (!isSizes(offsets) || offsets.length !== 2)
    return fail(`has invalid data_offsets: ${listText(offsets)}`);
  const bytes = shape.reduce((n, extent) => n * extent, stored.bytes);
  const [begin, end] = offsets;
  if (!Number.isSafeInteger(bytes) || end - begin !== bytes) {
    return fail(
      `of ${dtype} [${shape}] has ${bytes} bytes, but its data_offsets [${offsets}] have ${end - begin}`,
    );
  }
  return { name: tensor, stored, shape, begin, end };
}

/** Whether a value is a list of at most 64 integers ≥ 0: a tensor has at most 64 dimensions. */
function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length <= 64 && value.every(n => Number.isSafeInteger(n) && n >= 0);
}
