import { sdpa as exact } from '@tilewise/core/reference';
import { openGpu } from '@tilewise/webgpu-host';
import tgpu from 'typegpu';
import * as d from 'typegpu/data';
import { expect, test } from 'vitest';
import { bytes, count, expectClose, shape, tensor, values } from './testing/example-data.ts';
import { trafficOf } from './testing/traffic.ts';
import { attention, contextOf } from './typegpu.ts';

test('attention runs on buffers of TypeGPU and returns one, without a copy', async () => {
  const { adapter } = await openGpu();
  const root = tgpu.initFromDevice({ device: await adapter.requestDevice() });
  const ctx = await contextOf(root);
  const schema = d.arrayOf(d.f32, count);
  const [q, k, v] = [1, 2, 3].map(seed => root.createBuffer(schema, [...values(seed)]).$usage('storage'));
  // TypeGPU creates and fills its buffers when they are first used.
  for (const buffer of [q, k, v]) root.unwrap(buffer);

  const { result, traffic } = await trafficOf(async () => {
    const o = attention(ctx, root, shape, { q, k, v }, { causal: true });
    await ctx.submitted();
    return o;
  });
  expect(traffic).toMatchObject({ copies: 0, reads: 0 });
  // The buffers are o, and smaller ones for lse and parameters.
  expect(traffic.buffers.filter(size => size >= bytes)).toHaveLength(1);

  const own = root.createBuffer(schema, result.buffer);
  expect(root.unwrap(own)).toBe(result.buffer);
  expectClose(await own.read(), exact(tensor(1), tensor(2), tensor(3), { causal: true }).o);
  ctx.destroy();
  root.destroy();
});
