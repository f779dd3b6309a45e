import { type DType, elementCount, Tensor, TilewiseError } from '@tilewise/core';
import { UnsupportedOperationError } from '../../../../errors.ts';
import { brokenScalarRule } from '../../../../ir/tensor/scalar.ts';
import { type ElementType, elementTypeName, elementTypeOf } from './element-type.ts';
import type { Message } from './wire.ts';

/** The location of tensor data that is stored outside the file. */
export interface ExternalData {
  readonly location: string;
  readonly offset: number;
  /** The length in bytes. */
  readonly length: number;
}

/** A tensor of the file, whose data is little-endian and row-major. */
export interface TensorRecord {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data: Uint8Array | ExternalData;
}

/** The maximum number of elements of a tensor; typed arrays and engines' buffers have fewer. */
const maxElements = 2 ** 32;

/**
 * Reads a TensorProto, and checks that its data matches its shape.
 * @throws InvalidGraphError naming the tensor; UnsupportedOperationError for an element type that no engine
 * supports.
 */
export function readTensor(message: Message): TensorRecord {
  const name = message.text(8, 'name');
  const shape = message.integers(1, 'dims').map(Number);
  const wrong = shape.find(n => !Number.isSafeInteger(n) || n < 0);
  if (wrong !== undefined) message.fail(`('${name}') has an extent of ${wrong}: it must be at least 0`);
  const count = elementCount(shape);
  if (count > maxElements) message.fail(`('${name}') has ${count} elements, more than ${maxElements}`);
  const number = message.integer(2, 'data_type');
  const type = elementTypeOf(number);
  if (!type)
    throw new UnsupportedOperationError(`tensor '${name}'`, `has elements of ${elementTypeName(number)}`);
  const bytes = Math.ceil((count * type.bits) / 8);
  if (message.integer(14, 'data_location') === 1)
    return { name, type, shape, data: readExternal(message, name, bytes) };
  const data = message.bytes(9, 'raw_data') ?? fromNumbers(message, type, count);
  if (data.length !== bytes)
    message.fail(
      `('${name}') has ${data.length} bytes of data, its shape [${shape}] of ${type.name} takes ${bytes}`,
    );
  return { name, type, shape, data };
}

function readExternal(message: Message, name: string, bytes: number): ExternalData {
  const entries = new Map(
    message
      .messages(13, 'external_data', n => `external data ${n} of '${name}'`)
      .map(entry => [entry.text(1, 'key'), entry.text(2, 'value')]),
  );
  const location = entries.get('location');
  if (!location) return message.fail(`('${name}') is in another file, which the model does not name`);
  const offset = Number(entries.get('offset') ?? 0);
  const length = Number(entries.get('length') ?? bytes);
  if (!Number.isSafeInteger(offset) || offset < 0 || length !== bytes)
    message.fail(`('${name}') takes ${bytes} bytes of '${location}', got ${length} at ${offset}`);
  return { location, offset, length };
}

/** The bytes of elements that are stored as a list of numbers. */
function fromNumbers(message: Message, type: ElementType, count: number): Uint8Array {
  const { bits, field, kind } = type;
  if (field === 'float_data' || field === 'double_data') {
    const values = field === 'float_data' ? message.floats(4, field, 4) : message.floats(10, field, 8);
    return bytesOf(field === 'float_data' ? Float32Array.from(values) : Float64Array.from(values));
  }
  const numbers = { int32_data: 5, int64_data: 7, uint64_data: 11 } as const;
  const values = message.integers(numbers[field], field);
  if (bits < 8) {
    // Each number contains several elements, packed as in raw data.
    const bytes = values.slice(0, Math.ceil((count * bits) / 8));
    return Uint8Array.from(bytes, value => Number(BigInt.asUintN(8, value)));
  }
  const of = (wide: bigint): number =>
    Number(kind === 'signed' ? BigInt.asIntN(bits, wide) : BigInt.asUintN(bits, wide));
  switch (bits) {
    case 8:
      return Uint8Array.from(values, of);
    case 16:
      return bytesOf(Uint16Array.from(values, of));
    case 32:
      return bytesOf(Uint32Array.from(values, of));
    default:
      return bytesOf(BigUint64Array.from(values, value => BigInt.asUintN(64, value)));
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

/**
 * A tensor's elements as numbers, which share the memory of the file where possible, because a model may have
 * gigabytes of bytes. Integers beyond 2^53 become the nearest number.
 */
export function numbersOf(
  { type, shape }: Pick<TensorRecord, 'type' | 'shape'>,
  data: Uint8Array,
): ArrayLike<number> {
  const { bits, kind } = type;
  const length = elementCount(shape);
  if (kind === 'float' && bits < 32) return engineTensor({ name: '', type, shape }, data).toFloat64();
  if (bits >= 8) {
    const elements = elementsOf(type, aligned(data, bits), length);
    const isBig = elements instanceof BigInt64Array || elements instanceof BigUint64Array;
    return isBig ? Float64Array.from(elements, Number) : elements;
  }
  return Float64Array.from({ length }, (_, n) => {
    const at = n * bits;
    // Shifts the bits up to the sign of a 32-bit integer and down again, which extends the sign.
    const high = data[at >> 3] << (32 - bits - (at & 7));
    return kind === 'signed' ? high >> (32 - bits) : high >>> (32 - bits);
  });
}

/** The bytes at an offset where a typed array of `bits`-bit numbers may start; copied if necessary. */
function aligned(data: Uint8Array, bits: number): Uint8Array<ArrayBuffer> {
  // `slice` of Node's Buffer, which is a Uint8Array too, does not copy.
  const own = data.byteOffset % (bits / 8) === 0 ? data : new Uint8Array(data);
  return own as Uint8Array<ArrayBuffer>;
}

/** Elements of whole bytes, except 16-bit and 8-bit floats, as a typed array. */
function elementsOf(
  { bits, kind }: ElementType,
  { buffer, byteOffset: at }: Uint8Array<ArrayBuffer>,
  length: number,
): ArrayLike<number> | BigInt64Array | BigUint64Array {
  if (kind === 'float')
    return bits === 64 ? new Float64Array(buffer, at, length) : new Float32Array(buffer, at, length);
  const signed = kind === 'signed';
  switch (bits) {
    case 8:
      return signed ? new Int8Array(buffer, at, length) : new Uint8Array(buffer, at, length);
    case 16:
      return signed ? new Int16Array(buffer, at, length) : new Uint16Array(buffer, at, length);
    case 32:
      return signed ? new Int32Array(buffer, at, length) : new Uint32Array(buffer, at, length);
    default:
      return signed ? new BigInt64Array(buffer, at, length) : new BigUint64Array(buffer, at, length);
  }
}

/**
 * Converts a tensor of the file to an engine's dtype. 16-bit and 8-bit floats keep their bits; f32 data is
 * not copied if it is aligned.
 * @throws TilewiseError `UNSUPPORTED` for an integer that does not fit in 32 bits.
 */
export function engineTensor({ name, type, shape }: Omit<TensorRecord, 'data'>, data: Uint8Array): Tensor {
  const { dtype, bits, kind } = type;
  const length = elementCount(shape);
  const { buffer, byteOffset: at } = aligned(data, bits);
  if (dtype === 'f32' && bits === 32)
    return Tensor.wrap(new Float32Array(buffer, at, length), { dtype, shape });
  if (kind === 'float' && bits === 16)
    return Tensor.wrap(new Uint16Array(buffer, at, length), { dtype, shape });
  if (kind === 'float' && bits === 8)
    return Tensor.wrap(new Uint8Array(buffer, at, length), { dtype, shape });
  return tensorOfNumbers(name, dtype, shape, numbersOf({ type, shape }, data));
}

/**
 * Converts numbers to a tensor in an engine's dtype. A Float32Array becomes an f32 tensor without a copy.
 * @throws TilewiseError `UNSUPPORTED` for an integer that the dtype cannot represent, because engines have no
 * 64-bit integers.
 */
export function tensorOfNumbers(
  name: string,
  dtype: DType,
  shape: readonly number[],
  values: ArrayLike<number>,
): Tensor {
  if (dtype === 'f32' && values instanceof Float32Array) return Tensor.wrap(values, { dtype, shape });
  // Floats are rounded, and a file may store true as any number but 0.
  const wrong: number | undefined = /^[iu]/.test(dtype)
    ? Array.prototype.find.call(values, (value: number) => brokenScalarRule(dtype, value) !== null)
    : undefined;
  if (wrong !== undefined)
    throw new TilewiseError(
      'UNSUPPORTED',
      `ONNX file: '${name}' contains ${wrong}, which does not fit in ${dtype}`,
      { argument: name },
    );
  return Tensor.from(values, shape, { dtype });
}
