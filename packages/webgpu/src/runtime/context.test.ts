import { type DType, Tensor } from '@tilewise/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { normal } from '../../testing/attention/attention-call.ts';
import { bitsOf } from '../../testing/attention/expect-agreement.ts';
import { readBuffer, storageBuffer } from '../../testing/device/device-buffers.ts';
import { sharedContext } from '../../testing/device/shared-context.ts';
import type { GpuContext } from '../index.ts';

let ctx: GpuContext;
beforeAll(async () => {
  ctx = await sharedContext();
});

describe('tensors', () => {
  test.each<[DType, number]>([
    ['f32', 7],
    ['f16', 7],
    ['bf16', 1],
    ['f8e4m3', 5],
    ['i32', 3],
    ['u8', 6],
    ['bool', 9],
  ])('are downloaded unchanged: %s × %i', async (dtype, n) => {
    const t = Tensor.from(
      Array.from({ length: n }, (_, i) => i % 2),
      [n],
      { dtype },
    );
    const back = await ctx.download(ctx.upload(t));
    expect([back.dtype, back.shape, bitsOf(back)]).toEqual([dtype, [n], bitsOf(t)]);
  });

  test('keep their shape when the caller changes the arrays that defined it', () => {
    const host = { ...Tensor.zeros([2, 3]), shape: [2, 3], strides: [3, 1] };
    const shown = { shape: [3, 2], strides: [1, 3] };
    const t = ctx.upload(host as unknown as Tensor);
    const view = ctx.view(t, shown);
    for (const array of [host.shape, host.strides, shown.shape, shown.strides]) array.fill(1000);
    expect([t.shape, t.strides, view.shape, view.strides]).toEqual([
      [2, 3],
      [3, 1],
      [3, 2],
      [1, 3],
    ]);
  });

  test('may be empty', async () => {
    const back = await ctx.download(ctx.upload(Tensor.zeros([2, 0, 3])));
    expect([back.shape, back.size]).toEqual([[2, 0, 3], 0]);
  });

  test('may have an offset and strides', async () => {
    const t = Tensor.from(
      Array.from({ length: 60 }, (_, n) => n),
      [3, 4, 5],
      { dtype: 'f16' },
    );
    const view = t.permute(2, 0, 1).slice(0, 1, 4).slice(2, 1, 3);
    const back = await ctx.download(ctx.upload(view));
    expect([back.shape, back.strides]).toEqual([view.shape, view.strides]);
    expect(back.toFloat32()).toEqual(view.toFloat32());
  });

  test('over shared memory', async () => {
    const data = new Float32Array(new SharedArrayBuffer(16)).fill(2);
    const t = Tensor.wrap(data, { dtype: 'f32', shape: [4] });
    expect([...(await ctx.download(ctx.upload(t))).toFloat32()]).toEqual([2, 2, 2, 2]);
  });

  test('keep NaN payloads and signed zeros', async () => {
    const t = Tensor.wrap(Uint16Array.of(0x7e01, 0xfc00, 0x8000, 0x0001), { dtype: 'f16', shape: [4] });
    expect(bitsOf(await ctx.download(ctx.upload(t)))).toEqual(bitsOf(t));
  });

  test('whose buffer has been transferred are refused, and take no memory', () => {
    const t = normal([64], 1);
    structuredClone(t.data.buffer, { transfer: [t.data.buffer as ArrayBuffer] });
    const { current } = ctx.memory;
    expect(() => ctx.upload(t)).toThrow(
      'tensor must have 64 elements of storage, has 0: it was released, transferred or shrunk',
    );
    expect(ctx.memory.current).toBe(current);
  });

  test("in the caller's buffer are read from their offset, and never freed", async () => {
    const buffer = storageBuffer(
      ctx.device,
      Uint16Array.from({ length: 12 }, (_, n) => n),
    );
    const t = ctx.wrap(buffer, { dtype: 'f16', shape: [2, 3], strides: [4, 1], offset: 6 });
    expect([...new Uint16Array((await ctx.download(t)).contiguous().data)]).toEqual([3, 4, 5, 7, 8, 9]);
    t.destroy();
    expect((await readBuffer(ctx.device, buffer)).length).toBe(24);
  });
});
