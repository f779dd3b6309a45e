import {
  bytesSpanned,
  dtypeInfo,
  InvalidArgumentError,
  InvalidShapeError,
  type TensorDesc,
} from '@tilewise/core';
import { checkDesc, checkStorage, copiedDesc, dtypeTraits, type HostArray } from '@tilewise/core/engine';
import type { ByteRange } from '../../device/byte-range.ts';
import { checkKind } from '../../device/check-kind.ts';

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
 * A host tensor as buffers store it: its shape and strides, and its bytes from the first to the last element.
 * @throws InvalidArgumentError for anything but a host tensor, and for one whose buffer has been transferred;
 * InvalidShapeError for a tensor that its typed array does not hold.
 */
export function hostWords(tensor: HostArray): {
  readonly desc: TensorDesc;
  readonly words: Uint8Array<ArrayBuffer>;
} {
  checkKind('tensor', tensor, 'a Tensor on the host');
  const { data, offset } = tensor;
  const desc = copiedDesc(checkDesc(tensor));
  if (!ArrayBuffer.isView(data))
    throw new InvalidArgumentError('tensor', 'must have its elements in a typed array');
  checkStorage({ tensor: { ...desc, data, offset } });
  const start = offset * dtypeInfo[desc.dtype].bytes;
  const size = bytesSpanned(desc);
  if (start + size > data.byteLength) {
    const rule = `needs ${start + size} bytes, its typed array has ${data.byteLength}`;
    throw new InvalidShapeError('tensor', rule);
  }
  return { desc, words: wholeWords(data, start, size) };
}

/**
 * Bytes `start` to `start + length` of a typed array, padded with zeros to whole words, because buffers are
 * written in whole words.
 */
function wholeWords(data: ArrayBufferView, start: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.buffer, data.byteOffset + start, length);
  // Not every host accepts a shared buffer for queue.writeBuffer.
  if (length % 4 === 0 && bytes.buffer instanceof ArrayBuffer) return bytes as Uint8Array<ArrayBuffer>;
  const padded = new Uint8Array(Math.ceil(length / 4) * 4);
  padded.set(bytes);
  return padded;
}
