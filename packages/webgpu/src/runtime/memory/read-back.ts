import { bytesSpanned, dtypeInfo, elementsSpanned, Tensor, TilewiseError } from '@tilewise/core';
import type { BufferPool } from '../../device/buffer-pool.ts';
import { type Fault, touch } from '../../device/gpu-work.ts';
import { mapModeRead } from '../../device/webgpu-flags.ts';
import type { GpuTensor } from './gpu-tensor.ts';
import { bytesOf } from './tensor-storage.ts';

/** A copy that is being mapped for the host: the promise gives the buffer where mapping fails. */
type MappedCopy = readonly [staging: GPUBuffer, mapping: Promise<unknown>];

/** Records a copy in an encoder. @returns what maps the copy, once the encoder is submitted. */
export type RecordedCopy = (encoder: GPUCommandEncoder) => () => MappedCopy;

/** A copy that was submitted, and the error of the work that it was submitted with. */
export interface SubmittedCopy {
  readonly result: MappedCopy;
  readonly fault: Fault;
}

/**
 * Submits a copy: records the copy in an encoder, submits the encoder, and then maps the copy, all in one
 * `gpuWork`.
 */
export type SubmitCopy = (copy: RecordedCopy) => SubmittedCopy | Promise<SubmittedCopy>;

/** A tensor on the host with the values of a GPU tensor, by way of a staging buffer of the pool. */
export async function readBack(
  pool: BufferPool,
  tensor: GpuTensor,
  submit: SubmitCopy,
  checkAlive: () => void,
): Promise<Tensor> {
  const { dtype, shape, strides, byteOffset, buffer } = tensor;
  const size = bytesSpanned(tensor);
  const data = dtypeInfo[dtype].allocate(elementsSpanned(tensor));
  // Copies move whole words: start and end are rounded outwards.
  const start = Math.floor(byteOffset / 4) * 4;
  const copied = Math.min(Math.ceil((byteOffset + size) / 4) * 4, buffer.size) - start;
  const { result, fault } = await submit(encoder => {
    const staging = pool.takeStaging(copied);
    if (copied > 0) encoder.copyBufferToBuffer(buffer, start, staging, 0, copied);
    touch([bytesOf(tensor)], []);
    // Mapped with this work, so that the error of a buffer without memory stays with the work.
    return () => [staging, staging.mapAsync(mapModeRead).catch(() => staging)];
  });
  const [staging, mapping] = result;
  try {
    const [failed, wrong] = await Promise.all([mapping, fault]);
    if (wrong) throw wrong;
    checkAlive();
    if (failed) {
      throw new TilewiseError('DEVICE_LOST', 'the tensor could not be read back: its device is gone');
    }
    const source = new Uint8Array(staging.getMappedRange(), byteOffset - start, size);
    new Uint8Array(data.buffer).set(source);
    staging.unmap();
    pool.give(staging);
  } catch (error) {
    pool.discard(staging);
    throw error;
  }
  return Tensor.wrap(data, { dtype, shape, strides });
}
