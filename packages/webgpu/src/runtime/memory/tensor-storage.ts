import { bytesSpanned, dtypeTraits, InvalidShapeError, type TensorDesc } from '@tilewise/core';
import type { ByteRange } from '../../device/byte-range.ts';

/** A tensor in a buffer, `byteOffset` bytes in. */
type StoredTensor = TensorDesc & { readonly buffer: GPUBuffer; readonly byteOffset: number };

/** Where a tensor lies, from its first to its last element. */
export function bytesOf(tensor: StoredTensor): ByteRange {
  return { buffer: tensor.buffer, offset: tensor.byteOffset, size: bytesSpanned(tensor) };
}

/** Whether a tensor starts where four of its elements cannot be read as one vector. */
export function isUnaligned({ dtype, byteOffset }: StoredTensor): boolean {
  return byteOffset % (4 * dtypeTraits[dtype].bytes) !== 0;
}

/**
 * Checks that a tensor has no element outside a buffer from `offset` bytes on.
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
 * Bytes `start` to `start + length` of a typed array; writes to buffers come in whole words, so they end with
 * zeros if need be.
 */
export function wholeWords(data: ArrayBufferView, start: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.buffer, data.byteOffset + start, length);
  // A shared buffer cannot be handed to the queue in every host.
  if (length % 4 === 0 && bytes.buffer instanceof ArrayBuffer) return bytes as Uint8Array<ArrayBuffer>;
  const padded = new Uint8Array(Math.ceil(length / 4) * 4);
  padded.set(bytes);
  return padded;
}
