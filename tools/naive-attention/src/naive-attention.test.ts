import { Tensor } from '@tilewise/core';
import { sdpa, sdpaBackward } from '@tilewise/core/reference';
import { createContext, type GpuContext, type GpuTensor } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { naiveAttention } from './naive-attention.ts';

let ctx: GpuContext;
beforeAll(async () => {
  const { adapter } = await openGpu();
  ctx = await createContext({ adapter });
});
afterAll(() => ctx?.destroy());

const wave = (shape: readonly number[], phase: number): Tensor =>
  Tensor.from(
    Array.from({ length: shape.reduce((n, extent) => n * extent, 1) }, (_, n) => Math.sin(n * n + phase)),
    shape,
  );

describe('attention with stored scores equals the reference', () => {
  it.each([
    { heads: 2, S: 16, D: 16, causal: false },
    { heads: 3, S: 37, D: 20, causal: true },
    { heads: 1, S: 70, D: 5, causal: false },
  ])('$heads heads, S = $S, D = $D, causal: $causal', async shape => {
    const { heads, S, D, causal } = shape;
    const [q, k, v, dO] = [1, 2, 3, 4].map(phase => wave([1, heads, S, D], phase));
    const { o, lse } = sdpa(q, k, v, { causal });
    const gradients = sdpaBackward({ q, k, v, o, lse, dO }, { causal });

    const { forward, backward } = await naiveAttention(ctx.device, shape);
    const tensors: Record<string, GpuTensor> = {};
    for (const [name, tensor] of Object.entries({ q, k, v, dO })) tensors[name] = ctx.upload(tensor);
    for (const { name, bytes } of [...forward.tensors, ...backward.tensors]) {
      // Tensors that are not given are written before they are read.
      tensors[name] ??= ctx.upload(
        Tensor.from(new Array(bytes / 4).fill(Number.NaN), [1, heads, S, bytes / (4 * heads * S)]),
      );
    }
    const buffers = Object.fromEntries(Object.entries(tensors).map(([name, { buffer }]) => [name, buffer]));
    const encoder = ctx.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    forward.encode(pass, buffers);
    backward.encode(pass, buffers);
    pass.end();
    ctx.device.queue.submit([encoder.finish()]);

    for (const [name, expected] of Object.entries({ o, ...gradients })) {
      const got = (await ctx.download(tensors[name])).toFloat32();
      const worst = (expected as Tensor)
        .toFloat32()
        .reduce((error, x, n) => Math.max(error, Math.abs(x - got[n])), 0);
      // f32 sums of at most 70 terms of size about 1.
      expect(worst, name).toBeLessThan(1e-5);
    }
  });
});

it('says how much memory the scores take if they do not fit', async () => {
  const shape = { heads: 64, S: 65_536, D: 8, causal: false };
  await expect(naiveAttention(ctx.device, shape)).rejects.toThrow(/the scores take 1099511627776 bytes/);
});
