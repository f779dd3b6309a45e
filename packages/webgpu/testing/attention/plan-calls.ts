import { dtypeInfo, normalise, normaliseBackward, type SdpaBackwardOptions, Tensor } from '@tilewise/core';
import type { BufferSlice, EncodeOptions, Plan } from '../../src/index.ts';
import { readBuffer, storageBuffer } from '../device/device-buffers.ts';
import { normal } from './attention-call.ts';

/** (B, H, S, D) of the call. */
export const shape: readonly number[] = [2, 2, 40, 8];
/** A call for which plans are made. */
export const call = {
  q: normal(shape, 1),
  k: normal(shape, 2),
  v: normal(shape, 3),
  dO: normal(shape, 4),
};

/** The forward and the backward problem of a call; runs nothing. */
export function problemsOf(options: SdpaBackwardOptions<Tensor> = {}, { q, k, v, dO } = call) {
  const [B, H, S] = q.shape;
  const lse = Tensor.zeros([B, H, S]);
  return {
    forward: normalise({ q, k, v }, options).problem,
    backward: normaliseBackward({ q, k, v, o: dO, lse, dO }, options).problem,
  };
}

/** A buffer that contains a tensor at an offset. */
export function slice(device: GPUDevice, t: Tensor, offset = 0): BufferSlice {
  const bytes = new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength);
  const content = new Uint8Array(Math.ceil((offset + bytes.length + 12) / 4) * 4);
  content.set(bytes, offset);
  return { buffer: storageBuffer(device, content), offset };
}

/** Reads a tensor from a buffer slice, with the layout of another tensor. */
export async function read(
  device: GPUDevice,
  like: Tensor,
  { buffer, offset = 0 }: BufferSlice,
): Promise<Tensor> {
  const { dtype, shape, strides } = like;
  const data = dtypeInfo[dtype].allocate(like.data.length);
  const bytes = await readBuffer(device, buffer);
  new Uint8Array(data.buffer).set(bytes.slice(offset, offset + data.byteLength));
  return Tensor.wrap(data, { dtype, shape, strides });
}

/** Records a plan and submits it. */
export type RecordPlan = (
  device: GPUDevice,
  plan: Plan,
  buffers: Record<string, BufferSlice>,
  options?: EncodeOptions,
) => void;

export const intoEncoder: RecordPlan = (device, plan, buffers, options) => {
  const encoder = device.createCommandEncoder();
  plan.encode(encoder, buffers, options);
  device.queue.submit([encoder.finish()]);
};

export const intoPass: RecordPlan = (device, plan, buffers, options) => {
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  plan.encode(pass, buffers, options);
  pass.end();
  device.queue.submit([encoder.finish()]);
};
