import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { bytesSpanned } from '../../tensor/tensor-desc.ts';
import type { Memory } from '../kernels/memory/memory.ts';

/**
 * The address for reading a tensor's first element: its own address if the tensor is in the kernels' memory,
 * else the address of a copy, which exists until the memory's panels are freed.
 */
export function readable(memory: Memory, tensor: Tensor): number {
  const { bytes } = dtypeInfo[tensor.dtype];
  const at = memory.addressOf(tensor.data);
  return at >= 0 ? at + tensor.offset * bytes : copyIn(memory, tensor);
}

/**
 * The address for writing a tensor's first element, as in `readable`. If it is the address of a copy,
 * `copyBack` copies the written elements to the tensor.
 */
export function writable(memory: Memory, tensor: Tensor): number {
  const { bytes } = dtypeInfo[tensor.dtype];
  const at = memory.addressOf(tensor.data);
  if (at >= 0) return at + tensor.offset * bytes;
  // `copyBack` must not change the gaps.
  return tensor.isContiguous ? memory.scratch(bytesSpanned(tensor) / 4 + 4).at : copyIn(memory, tensor);
}

/**
 * Copies elements that were written at the address from `writable` to a tensor outside the kernels' memory.
 */
export function copyBack(memory: Memory, tensor: Tensor, at: number): void {
  const { data, offset } = tensor;
  if (memory.addressOf(data) >= 0) return;
  const span = bytesSpanned(tensor);
  if (tensor.dtype === 'f32') data.set(memory.f32.subarray(at >>> 2, (at + span) >>> 2), offset);
  else bytesOf(tensor, span).set(memory.u8.subarray(at, at + span));
}

function copyIn(memory: Memory, tensor: Tensor): number {
  const { data, offset } = tensor;
  const span = bytesSpanned(tensor);
  const { at } = memory.scratch(span / 4 + 4);
  // A view of bytes takes as long as copying a small tensor.
  if (data instanceof Float32Array && offset === 0 && 4 * data.length === span)
    memory.f32.set(data, at >>> 2);
  else memory.u8.set(bytesOf(tensor, span), at);
  return at;
}

function bytesOf({ data, offset }: Tensor, span: number): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset + offset * data.BYTES_PER_ELEMENT, span);
}
