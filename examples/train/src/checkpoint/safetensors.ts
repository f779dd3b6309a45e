import { type DType, dtypeInfo, InvalidArgumentError, Tensor } from '@tilewise/core';

/**
 * Tensors by name with a map of texts beside them, as Hugging Face's safetensors stores them: a u64 with the
 * length of a JSON header, the header, then the tensors, row-major, little-endian and without gaps. Source:
 * https://huggingface.co/docs/safetensors, "Format".
 */
export interface SafetensorsFile {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The format's names of dtypes. */
const dtypeNames = {
  f32: 'F32',
  f16: 'F16',
  bf16: 'BF16',
  f8e4m3: 'F8_E4M3',
  f8e5m2: 'F8_E5M2',
  i32: 'I32',
  u32: 'U32',
  i8: 'I8',
  u8: 'U8',
  bool: 'BOOL',
} as const satisfies Record<DType, string>;

const LENGTH_BYTES = 8;
/** What readers of the format accept. */
const LARGEST_HEADER = 100_000_000;

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** Tensors as a safetensors file; dtypes stay as they are. */
export function encodeSafetensors({ tensors, metadata }: SafetensorsFile): Uint8Array {
  // Wide dtypes first, so that each lies at a multiple of its size, as the format's own writer does it.
  const entries = [...tensors].sort(
    ([a, s], [b, t]) => dtypeInfo[t.dtype].bytes - dtypeInfo[s.dtype].bytes || (a < b ? -1 : 1),
  );
  const header: Record<string, unknown> = {};
  if (Object.keys(metadata).length > 0) header.__metadata__ = metadata;
  let end = 0;
  const parts = entries.map(([name, tensor]) => {
    const { data } = tensor.contiguous();
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const start = end;
    end += bytes.length;
    header[name] = { dtype: dtypeNames[tensor.dtype], shape: tensor.shape, data_offsets: [start, end] };
    return { start, bytes };
  });
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Spaces bring the data to a multiple of 8.
  const length = Math.ceil(json.length / 8) * 8;
  const file = new Uint8Array(LENGTH_BYTES + length + end).fill(0x20, LENGTH_BYTES, LENGTH_BYTES + length);
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(json, LENGTH_BYTES);
  for (const { start, bytes } of parts) file.set(bytes, LENGTH_BYTES + length + start);
  return file;
}

/**
 * Reads a safetensors file.
 * @throws InvalidArgumentError for what is none, and for dtypes that there are not here.
 */
export function decodeSafetensors(file: Uint8Array): SafetensorsFile {
  const { header, data } = split(file);
  const tensors = new Map<string, Tensor>();
  let metadata: Readonly<Record<string, string>> = {};
  const ranges: (readonly [start: number, end: number, name: string])[] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') {
      metadata = textsOf(value);
      continue;
    }
    const { tensor, start, end } = readTensor(name, value, data);
    ranges.push([start, end, name]);
    tensors.set(name, tensor);
  }
  checkRanges(ranges, data.length);
  return { tensors, metadata };
}

/** The format has neither gaps nor overlaps: two names for the same bytes would be one tensor in disguise. */
function checkRanges(ranges: (readonly [start: number, end: number, name: string])[], bytes: number): void {
  let covered = 0;
  for (const [start, end, name] of ranges.sort(([a, x], [b, y]) => a - b || x - y)) {
    const rule =
      start < covered ? 'overlaps the tensor before it' : `leaves a gap of ${start - covered} bytes`;
    check(start === covered, `has a tensor '${name}' that ${rule}`);
    covered = end;
  }
  check(covered === bytes, `has ${bytes} bytes of data, of which its tensors are ${covered}`);
}

function split(file: Uint8Array): { readonly header: Record<string, unknown>; readonly data: Uint8Array } {
  check(file.length >= LENGTH_BYTES, `is no safetensors file: it has ${file.length} bytes`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = view.getBigUint64(0, true);
  check(
    length <= LARGEST_HEADER && LENGTH_BYTES + Number(length) <= file.length,
    `is no safetensors file: its first 8 bytes say that a header of ${length} bytes follows`,
  );
  const end = LENGTH_BYTES + Number(length);
  const text = new TextDecoder().decode(file.subarray(LENGTH_BYTES, end));
  const header = parseJson(text);
  check(isObject(header), 'is no safetensors file: its header is no JSON object');
  return { header, data: file.subarray(end) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface PlacedTensor {
  readonly tensor: Tensor;
  /** The first byte of the tensor in the data, and the byte behind its last. */
  readonly start: number;
  readonly end: number;
}

function readTensor(name: string, entry: unknown, data: Uint8Array): PlacedTensor {
  const wrong = `has a tensor '${name}' that is not described as the format says`;
  check(isEntry(entry), wrong);
  const { dtype: stored, shape, data_offsets } = entry;
  const dtype = (Object.keys(dtypeNames) as DType[]).find(key => dtypeNames[key] === stored);
  check(dtype !== undefined, `has a tensor '${name}' of ${stored}, which there is not here`);
  const [start, end] = data_offsets;
  const count = shape.reduce((n, extent) => n * extent, 1);
  const { allocate, bytes } = dtypeInfo[dtype];
  check(start >= 0 && end <= data.length && end - start === count * bytes, wrong);
  const values = allocate(count);
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength).set(data.subarray(start, end));
  return { tensor: Tensor.wrap(values, { dtype, shape }), start, end };
}

function isEntry(value: unknown): value is HeaderEntry {
  const isCounts = (x: unknown): x is number[] =>
    Array.isArray(x) && x.every(n => Number.isSafeInteger(n) && n >= 0);
  if (!isObject(value)) return false;
  const { dtype, shape, data_offsets: offsets } = value;
  return typeof dtype === 'string' && isCounts(shape) && isCounts(offsets) && offsets.length === 2;
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  check(isTexts(value), 'has metadata that are no texts');
  return value;
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every(text => typeof text === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function check(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new InvalidArgumentError('file', rule);
}
