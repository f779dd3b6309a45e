import { bytesSpanned, dtypeTraits, InvalidShapeError, type TensorDesc } from '@tilewise/core';
import type { ByteRange } from '../../device/byte-range.ts';

/** A tensor that starts `byteOffset` bytes into a buffer. */
type StoredTensor = TensorDesc & { readonly buffer: GPUBuffer; readonly byteOffset: number };

/** The bytes of a tensor, from the first to the last element. */
export function bytesOf(tensor: StoredTensor): ByteRange {
  return { buffer: tensor.buffer, offset: tensor.byteOffset, size: bytesSpanned(tensor) };
}

/** Whether the start of a tensor prevents reading four of its elements as one vector. */
export function isUnaligned({ dtype, byteOffset }: StoredTensor): boolean {
  return byteOffset % (4 * dtypeTraits[dtype].bytes) !== 0;
}

/**
 * Checks that all elements of a tensor that starts at `offset` bytes lie within a buffer.
 * @throws InvalidShapeError naming the argument.
 */
export function checkFits(argument: string, buffer: GPUBuffer, offset: number, desc: TensorDesc): void {
  const needed = offset + bytesSpanned(desc);
  if (needed > buffer.size) {
    const { dtype, shape, strides } = desc;
    throw new InvalidShapeError(
      argument,
      `needs ${needed} bytes (${dtype} [${shape}] with strides [${strides}] from byte ${offset}), the buffer has ${buffer.size}`,
    );
  }
}

/**
 * Bytes `start` to `start + length` of a typed array, padded with zeros to whole words, because buffers are
 * written in whole words.
 */
export function wholeWords(data: ArrayBufferView, start: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.buffer, data.byteOffset + start, length);
  // Not every host accepts a shared buffer for queue.writeBuffer.
  if (length % 4 === 0 && bytes.buffer instanceof ArrayBuffer) return bytes as Uint8Array<ArrayBuffer>;
  const padded = new Uint8Array(Math.ceil(length / 4) * 4);
  padded.set(bytes);
  return padded;
}
