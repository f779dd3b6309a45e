import { normalise, Tensor } from '@tilewise/core';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { validationError } from '../../testing/device/device-buffers.ts';
import { createContext, planSdpa } from '../index.ts';
import { createTrace, takeTrace } from './index.ts';

test('an encoder that is submitted after the trace was taken still runs', async () => {
  const { adapter } = await openGpu();
  if (!adapter.features.has('timestamp-query')) return;
  const trace = createTrace();
  const ctx = await createContext({ adapter, trace });
  const { device } = ctx;
  const host = Tensor.from([1, 2, 3, 4], [1, 1, 1, 4]);
  const q = ctx.upload(host);
  const [o, lse] = [ctx.allocate([1, 1, 1, 4], 'f32'), ctx.allocate([1, 1, 1], 'f32')];
  const encoder = device.createCommandEncoder();
  planSdpa(ctx, normalise({ q: host, k: host, v: host }).problem).encode(encoder, { q, k: q, v: q, o, lse });
  const { traceEvents } = await takeTrace(trace);
  expect(traceEvents.filter(({ cat }) => cat === 'kernel')).toEqual([]);
  expect(await validationError(device, () => device.queue.submit([encoder.finish()]))).toBe(null);
  expect([...(await ctx.download(o)).toFloat32()]).toEqual([1, 2, 3, 4]);
  ctx.destroy();
});
