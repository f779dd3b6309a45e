import { bytesSpanned, dtypeInfo, elementsSpanned, Tensor, TilewiseError } from '@tilewise/core';
import type { BufferPool } from '../../device/buffer-pool.ts';
import { type Fault, touch } from '../../device/gpu-work.ts';
import { mapModeRead } from '../../device/webgpu-flags.ts';
import type { GpuTensor } from './gpu-tensor.ts';
import { bytesOf } from './tensor-storage.ts';

/** A copy that is being mapped for the host. If mapping fails, the promise resolves to the buffer. */
type MappedCopy = readonly [staging: GPUBuffer, mapping: Promise<unknown>];

/**
 * Records a copy in an encoder. Returns a function that maps the copy, to be called once the encoder is
 * submitted.
 */
export type RecordedCopy = (encoder: GPUCommandEncoder) => () => MappedCopy;

/** A submitted copy, and the error of the work that it was submitted with. */
export interface SubmittedCopy {
  readonly result: MappedCopy;
  readonly fault: Fault;
}

/**
 * Submits a copy: records it in an encoder, submits the encoder, and then maps the copy, all in one
 * `gpuWork`.
 */
export type SubmitCopy = (copy: RecordedCopy) => SubmittedCopy | Promise<SubmittedCopy>;

/** Reads the values of a GPU tensor into a host tensor, by way of a staging buffer of the pool. */
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
    // The mapping is part of this work, so that an error in allocating the buffer stays with the work.
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
