import { checkObject, describeValue, InvalidArgumentError } from '../errors.ts';
import { checkHostTensor } from './checks/check-on-host.ts';
import { checkTensorStorage } from './checks/check-storage.ts';
import type { DType } from './dtype/dtype.ts';
import type { Tensor } from './tensor.ts';

/** The names of dtypes in safetensors. */
const storedNames: Readonly<Record<DType, string>> = {
  ...{ f32: 'F32', f16: 'F16', bf16: 'BF16', f8e4m3: 'F8_E4M3', f8e5m2: 'F8_E5M2' },
  ...{ i32: 'I32', u32: 'U32', i8: 'I8', u8: 'U8', bool: 'BOOL' },
};

/** The size in bytes of the header's length, a 64-bit number at the start of the file. */
const LENGTH_BYTES = 8;

/** Tensors by name. */
export type NamedTensors = ReadonlyMap<string, Tensor>;

/** The data starts at a multiple of this number, as the format requires. */
const ALIGNMENT = 8;

/**
 * The chunks of a safetensors file: the header, then each tensor. Tensors are ordered by element size, the
 * largest first, so that each starts at a multiple of its element size, and then by name, so that the same
 * tensors give the same bytes.
 * @throws when the first chunk is read: InvalidArgumentError for tensors that are not a Map, a value in it
 * that is not a tensor on this host or has lost its storage, metadata that is not a string, and the name
 * '__metadata__', which the format reserves.
 */
export function* writeSafetensors(
  tensors: NamedTensors,
  metadata: Readonly<Record<string, string>> = {},
): Generator<Uint8Array, void, undefined> {
  checkFile(tensors, metadata);
  const ordered = [...tensors].sort(
    ([nameA, a], [nameB, b]) =>
      b.data.BYTES_PER_ELEMENT - a.data.BYTES_PER_ELEMENT || (nameA < nameB ? -1 : 1),
  );
  yield headerOf(ordered, metadata);
  for (const [, tensor] of ordered) yield bytesOf(tensor);
}

function checkFile(tensors: NamedTensors, metadata: Readonly<Record<string, string>>): void {
  const isMap: boolean = tensors instanceof Map;
  if (!isMap)
    throw new InvalidArgumentError(
      'tensors',
      `must be a Map of tensors by name, got ${describeValue(tensors)}`,
    );
  for (const [name, tensor] of tensors) {
    if (name === '__metadata__')
      throw new InvalidArgumentError('tensors', `cannot have a tensor named '${name}'`);
    checkHostTensor(`tensors.${name}`, tensor);
    checkTensorStorage(`tensors.${name}`, tensor);
  }
  checkObject('metadata', metadata);
  for (const [name, value] of Object.entries(metadata)) {
    if (typeof value !== 'string')
      throw new InvalidArgumentError(`metadata.${name}`, `must be a string, got ${describeValue(value)}`);
  }
}

/** The first chunk: the length of the header, and the header as JSON, padded with spaces. */
function headerOf(
  tensors: readonly (readonly [string, Tensor])[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  // Without a prototype, so that a tensor may be named '__proto__'.
  const header: Record<string, unknown> = Object.create(null);
  if (Object.keys(metadata).length > 0) header.__metadata__ = metadata;
  let end = 0;
  for (const [name, { dtype, shape, size, data }] of tensors) {
    const begin = end;
    end += size * data.BYTES_PER_ELEMENT;
    header[name] = { dtype: storedNames[dtype], shape, data_offsets: [begin, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.length / ALIGNMENT) * ALIGNMENT;
  const chunk = new Uint8Array(LENGTH_BYTES + padded).fill(0x20, LENGTH_BYTES);
  new DataView(chunk.buffer).setBigUint64(0, BigInt(padded), true);
  chunk.set(text, LENGTH_BYTES);
  return chunk;
}

/** A safetensors file as one array. @throws as `writeSafetensors`. */
export function encodeSafetensors(
  tensors: NamedTensors,
  metadata?: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer> {
  const chunks = [...writeSafetensors(tensors, metadata)];
  const file = new Uint8Array(chunks.reduce((n, chunk) => n + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    file.set(chunk, at);
    at += chunk.length;
  }
  return file;
}

/** The elements in row-major order; the tensor's own memory if it is contiguous. */
function bytesOf(tensor: Tensor): Uint8Array {
  const { data, offset, size } = tensor.isContiguous ? tensor : tensor.contiguous();
  const bytes = data.BYTES_PER_ELEMENT;
  return new Uint8Array(data.buffer, data.byteOffset + offset * bytes, size * bytes);
}
