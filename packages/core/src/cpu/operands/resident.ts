import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { bytesSpanned } from '../../tensor/tensor-desc.ts';
import type { Memory } from '../kernels/memory/memory.ts';

/**
 * The address of the first element of a tensor to read: where it lies if that is in the kernels' memory, else
 * that of a copy, which is there until the memory's panels are taken back.
 */
export function readable(memory: Memory, tensor: Tensor): number {
  const { bytes } = dtypeInfo[tensor.dtype];
  const at = memory.addressOf(tensor.data);
  return at >= 0 ? at + tensor.offset * bytes : copyIn(memory, tensor);
}

/**
 * The address of the first element of a tensor to write, as `readable`. What was written to a copy comes to
 * the tensor by `copyBack`.
 */
export function writable(memory: Memory, tensor: Tensor): number {
  const { bytes } = dtypeInfo[tensor.dtype];
  const at = memory.addressOf(tensor.data);
  if (at >= 0) return at + tensor.offset * bytes;
  // Gaps come back as they were.
  return tensor.isContiguous ? memory.scratch(bytesSpanned(tensor) / 4 + 4).at : copyIn(memory, tensor);
}

/** Copies what was written at the address that `writable` gave to a tensor that lies elsewhere. */
export function copyBack(memory: Memory, tensor: Tensor, at: number): void {
  if (memory.addressOf(tensor.data) >= 0) return;
  const span = bytesSpanned(tensor);
  bytesOf(tensor, span).set(memory.u8.subarray(at, at + span));
}

function copyIn(memory: Memory, tensor: Tensor): number {
  const span = bytesSpanned(tensor);
  const { at } = memory.scratch(span / 4 + 4);
  memory.u8.set(bytesOf(tensor, span), at);
  return at;
}

function bytesOf({ data, offset }: Tensor, span: number): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset + offset * data.BYTES_PER_ELEMENT, span);
}
