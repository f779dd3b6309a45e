import {
  type DType,
  describeDense,
  dtypeInfo,
  elementCount,
  maxOffset,
  normalise,
  normaliseBackward,
  Tensor,
} from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { readBuffer, storageBuffer } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { type BufferSlice, planSdpa, planSdpaBackward } from '../../index.ts';

interface Layout {
  readonly dtype: DType;
  readonly D: number;
  /** Strides, in elements, between rows, heads, batch entries and channels. */
  readonly row: number;
  readonly between: number;
  readonly channel: number;
  /** The number of elements before the tensor. */
  readonly front: number;
}

const [B, H, S] = [2, 2, 37];

/** A tensor in a buffer that was filled with the byte 0xa5. */
function amidPattern(layout: Layout, device: GPUDevice) {
  const { dtype, D, row, between, channel, front } = layout;
  const head = S * row + between;
  const shape = [B, H, S, D];
  const strides = [H * head + between, head, row, channel];
  const { bytes } = dtypeInfo[dtype];
  const length = front + maxOffset(shape, strides) + 1 + 5;
  const pattern = new Uint8Array(Math.ceil((length * bytes) / 4) * 4).fill(0xa5);
  const slice: BufferSlice = { buffer: storageBuffer(device, pattern), offset: front * bytes };
  const view = (content: Uint8Array<ArrayBuffer>): Tensor => {
    const arrays = { 1: Uint8Array, 2: Uint16Array, 4: Float32Array };
    const data = new arrays[bytes](content.buffer);
    return Tensor.wrap(data, { dtype, shape, strides, offset: front });
  };
  /** The number of bytes outside the tensor that have changed. */
  const strays = (content: Uint8Array<ArrayBuffer>): number => {
    const inside = new Uint8Array(content.length);
    for (const at of view(content).offsets()) inside.fill(1, at * bytes, (at + 1) * bytes);
    return content.reduce((n, byte, i) => n + Number(!inside[i] && byte !== 0xa5), 0);
  };
  return { slice, view, strays, desc: describeDense('t', { dtype, shape, strides }) };
}

test.each<[string, Layout]>([
  ['f32 moved in vectors', { dtype: 'f32', D: 8, row: 12, between: 4, channel: 1, front: 4 }],
  ['f32 moved element by element', { dtype: 'f32', D: 7, row: 9, between: 2, channel: 1, front: 3 }],
  [
    'f16 whose rows share words with the gaps',
    { dtype: 'f16', D: 7, row: 9, between: 2, channel: 1, front: 1 },
  ],
  [
    'f16 of which every other channel belongs to another tensor',
    { dtype: 'f16', D: 7, row: 16, between: 1, channel: 2, front: 0 },
  ],
  [
    'f8e4m3 whose rows share words with the gaps',
    { dtype: 'f8e4m3', D: 7, row: 9, between: 2, channel: 1, front: 3 },
  ],
  ['f8e5m2 moved in vectors', { dtype: 'f8e5m2', D: 8, row: 12, between: 4, channel: 1, front: 4 }],
  ['bf16 moved in vectors', { dtype: 'bf16', D: 8, row: 12, between: 4, channel: 1, front: 4 }],
])('results are written without changing the elements around them: %s', async (_, layout) => {
  const ctx = await sharedContext();
  const { device } = ctx;
  const { dtype, D } = layout;
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([B, H, S, D], seed, dtype));
  const exact = exactResults({ q, k, v, dO, options: { causal: true } });
  const results = {
    o: amidPattern(layout, device),
    dq: amidPattern(layout, device),
    dk: amidPattern(layout, device),
    dv: amidPattern(layout, device),
  };
  const slice = (t: Tensor): BufferSlice => ({
    buffer: storageBuffer(device, new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength)),
  });
  const operands = { q: slice(q), k: slice(k), v: slice(v) };
  const lse = { buffer: storageBuffer(device, new Uint8Array(4 * B * H * S + 8).fill(0xa5)) };

  const { problem } = normalise({ q, k, v }, { causal: true });
  const forward = planSdpa(ctx, { ...problem, o: results.o.desc });
  const given = { q, k, v, o: exact.o, lse: exact.lse, dO };
  const backward = planSdpaBackward(ctx, normaliseBackward(given, { causal: true }).problem, {
    layouts: { dq: results.dq.desc, dk: results.dk.desc, dv: results.dv.desc },
  });
  const encoder = device.createCommandEncoder();
  forward.encode(encoder, { ...operands, o: results.o.slice, lse });
  backward.encode(encoder, {
    ...operands,
    o: slice(exact.o),
    lse: slice(exact.lse),
    dO: slice(dO),
    dq: results.dq.slice,
    dk: results.dk.slice,
    dv: results.dv.slice,
    workspace: { buffer: storageBuffer(device, backward.workspaceBytes) },
  });
  device.queue.submit([encoder.finish()]);

  for (const [name, { slice, view, strays }] of Object.entries(results)) {
    const content = await readBuffer(device, slice.buffer);
    expectAgreement({ [name]: view(content) }, { [name]: exact[name] });
    expect(strays(content), `bytes around ${name} that changed`).toBe(0);
  }
  const rows = await readBuffer(device, lse.buffer);
  expect([...rows.slice(4 * elementCount(exact.lse.shape))]).toEqual(new Array(8).fill(0xa5));
});

test('the tokens of no packed sequence are not written by plans', async () => {
  const ctx = await sharedContext();
  const { device } = ctx;
  const q = normal([20, 2, 7], 1, 'f16');
  const cuSeqLens = [0, 9, 16];
  const { problem } = normalise({ q, k: q, v: q }, { cuSeqLensQ: cuSeqLens, cuSeqLensKv: cuSeqLens });
  const plan = planSdpa(ctx, problem);
  const bytes = (data: ArrayBufferView): BufferSlice => ({ buffer: storageBuffer(device, data) });
  const o = bytes(new Uint8Array(q.data.byteLength).fill(0xa5));
  const lse = bytes(new Uint8Array(4 * 2 * 20).fill(0xa5));
  const operand = bytes(q.data);
  const lengths = bytes(Int32Array.from(cuSeqLens));
  const encoder = device.createCommandEncoder();
  plan.encode(encoder, {
    q: operand,
    k: operand,
    v: operand,
    o,
    lse,
    cuSeqLensQ: lengths,
    cuSeqLensKv: lengths,
  });
  device.queue.submit([encoder.finish()]);
  const [contentO, contentLse] = [await readBuffer(device, o.buffer), await readBuffer(device, lse.buffer)];
  expect(contentO.slice(2 * 16 * 2 * 7).every(byte => byte === 0xa5)).toBe(true);
  expect(contentO.slice(0, 2 * 16 * 2 * 7).every(byte => byte === 0xa5)).toBe(false);
  for (const head of [0, 1]) {
    const rest = contentLse.slice(4 * (head * 20 + 16), 4 * (head * 20 + 20));
    expect(rest.every(byte => byte === 0xa5)).toBe(true);
  }
});
