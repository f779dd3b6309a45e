import { copyStrided } from '../../../tensor/copy-strided.ts';
import type { TypedArray } from '../../../tensor/dtype/dtype.ts';
import { dtypeInfo } from '../../../tensor/dtype/dtype.ts';
import { elementCount } from '../../../tensor/shape.ts';
import { Tensor, type TensorDesc } from '../../../tensor/tensor.ts';
import type { AllocateTensor } from '../../operands/row-result.ts';
import type { SharedBuffers } from './shared-buffers.ts';

/**
 * An `R` in the form that is sent to a worker: its tensors, at any depth, are plain objects with storage that
 * both sides can access.
 */
export interface Sent<R> {
  readonly sent: unknown;
  /** Never present: only gives the sent and the received value the same type. */
  readonly type?: R;
}

/** No operand or capture has this name, because their names are identifiers. */
const TENSOR = '@tensor';

interface SentTensor extends TensorDesc {
  readonly data: TypedArray;
  readonly offset: number;
}

/**
 * Tensors with the same shapes as the originals but other storage, and the copies that fill it; until then
 * its contents are undefined.
 */
export interface Moved<R> {
  readonly tensors: R;
  readonly copies: readonly BufferCopy[];
}

/** Two buffers of the same size. */
export interface BufferCopy {
  readonly from: ArrayBuffer;
  readonly to: ArrayBufferLike;
}

/** Copies part number `part` of `count` equal parts of a buffer. */
export function copyPart({ from, to }: BufferCopy, part: number, count: number): void {
  const bytes = from.byteLength / count;
  new Uint8Array(to, part * bytes, bytes).set(new Uint8Array(from, part * bytes, bytes));
}

/**
 * Moves tensors to storage from `take`. Tensors that share a buffer get one common buffer; tensors in shared
 * memory stay there.
 */
export function moved<R>(value: R, take: (bytes: number) => ArrayBufferLike): Moved<R> {
  const copies = new Map<ArrayBuffer, ArrayBufferLike>();
  const tensors = mapTensors(value, tensor => {
    const { buffer, byteOffset, byteLength } = tensor.data;
    if (isShared(buffer)) return tensor;
    const copy = copies.get(buffer) ?? take(buffer.byteLength);
    copies.set(buffer, copy);
    return Tensor.wrap(viewOf(tensor.data, copy, byteOffset, byteLength), tensor);
  }) as R;
  return { tensors, copies: Array.from(copies, ([from, to]) => ({ from, to })) };
}

/** Packs the tensors of a value in shared memory for a worker. */
export function send<R>(value: R): Sent<R> {
  const sent = mapTensors(value, ({ dtype, shape, strides, offset, data }) => {
    const tensor: SentTensor = { dtype, shape, strides, offset, data };
    return { [TENSOR]: tensor };
  });
  return { sent };
}

/** The tensors of a record that are in shared memory, in which workers can write them. */
export function sharedOf<T extends object>(tensors: T): Partial<T> {
  const isInShared = (t: unknown): boolean => t instanceof Tensor && isShared(t.data.buffer);
  return Object.fromEntries(Object.entries(tensors).filter(([, t]) => isInShared(t))) as Partial<T>;
}

/** Unpacks a value that `send` packed, on the worker's side. */
export function receive<R>({ sent }: Sent<R>): R {
  const convert = (part: unknown): unknown => {
    const tensor = isRecord(part) && (part[TENSOR] as SentTensor | undefined);
    return tensor ? Tensor.wrap(tensor.data, tensor) : mapValues(part, convert);
  };
  return convert(sent) as R;
}

/** Makes an allocator of results that workers can write to. */
export function allocateShared({ take }: Pick<SharedBuffers, 'take'>): AllocateTensor {
  return (shape, dtype, isOverwritten) => {
    const elements = elementCount(shape);
    const taken = take(elements * dtypeInfo[dtype].bytes);
    const buffer = isOverwritten ? taken : zeros(taken);
    return Tensor.wrap(viewOf(dtypeInfo[dtype].allocate(0), buffer, 0, buffer.byteLength), { dtype, shape });
  };
}

/** The buffer, filled with zeros. */
export function zeros(buffer: SharedArrayBuffer): SharedArrayBuffer {
  // Shared memory is filled element by element, so wide elements are several times as fast.
  const wide = new Float64Array(buffer, 0, Math.floor(buffer.byteLength / Float64Array.BYTES_PER_ELEMENT));
  wide.fill(0);
  new Uint8Array(buffer, wide.byteLength).fill(0);
  return buffer;
}

/** The least memory that a host commits at once, in bytes. */
const PAGE = 4096;

/**
 * The tensors that the caller gets for results: those of `into`, else new tensors outside shared memory.
 * Values that are not tensors stay. Each page of a new tensor is written to, because hosts commit memory only
 * then, which takes longer than the later copy.
 */
export function receivers<R extends object>(
  results: R,
  into: Readonly<Partial<Record<keyof R, Tensor | null>>>,
): R {
  const receiver = ([name, t]: [string, unknown]): [string, unknown] => {
    if (!(t instanceof Tensor)) return [name, t];
    const given = into[name as keyof R];
    if (given) return [name, given];
    const fresh = Tensor.zeros(t.shape, { dtype: t.dtype });
    const { data } = fresh;
    for (let n = 0; n < data.length; n += PAGE / data.BYTES_PER_ELEMENT) data[n] = 0;
    return [name, fresh];
  };
  return Object.fromEntries(Object.entries(results).map(receiver)) as R;
}

/**
 * Copies the values of results to the tensors that the caller gets for them, unless they were written there.
 */
export function deliver<R extends object>(results: R, targets: R): void {
  for (const [name, t] of Object.entries(results)) {
    const target = (targets as Readonly<Record<string, Tensor>>)[name];
    if (t instanceof Tensor && t !== target) copyStrided(t.shape, t, target);
  }
}

/** An array of the same type as `data` over another buffer. */
function viewOf(data: TypedArray, buffer: ArrayBufferLike, at: number, bytes: number): TypedArray {
  const type = data.constructor as new (buffer: ArrayBufferLike, at: number, length: number) => TypedArray;
  return new type(buffer, at, bytes / data.BYTES_PER_ELEMENT);
}

/** The check works on hosts without shared memory, which do not have the class. */
function isShared(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
  return typeof SharedArrayBuffer !== 'undefined' && buffer instanceof SharedArrayBuffer;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A value with `map` applied to its tensors, at any depth. */
function mapTensors(value: unknown, map: (tensor: Tensor) => unknown): unknown {
  return value instanceof Tensor ? map(value) : mapValues(value, part => mapTensors(part, map));
}

/** A record with `map` applied to its values; other values are returned unchanged. */
function mapValues(value: unknown, map: (value: unknown) => unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, map(part)]));
}
