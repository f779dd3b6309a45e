import { elementCount, normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { sdpa as reference } from '@tilewise/core/reference';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bufferUsage } from '../../device/webgpu-flags.ts';
import { createContext, type GpuContext, planSdpa, planSdpaBackward, sdpa } from '../../index.ts';

let ctx: GpuContext;
beforeAll(async () => {
  const { adapter } = await openGpu();
  ctx = await createContext({ adapter });
});
afterAll(() => ctx.destroy());

const filled = (...shape: number[]): Tensor => {
  const count = elementCount(shape);
  return Tensor.from(
    Array.from({ length: count }, (_, n) => ((n * 7) % 11) / 8 - 0.5),
    shape,
  );
};
const list = (...values: number[]): Tensor => Tensor.from(values, [values.length], { dtype: 'i32' });

describe('cumulative lengths on the GPU, which cannot be checked', () => {
  test('that decrease give an empty sequence and end', async () => {
    const q = filled(8, 2, 8);
    const k = filled(8, 2, 8);
    const gpu = [q, k, k].map(t => ctx.upload(t)) as [never, never, never];
    const { o, lse } = sdpa(ctx, ...gpu, {
      cuSeqLensQ: [0, 4, 8],
      cuSeqLensKv: ctx.upload(list(0, 8, 4)),
      maxSeqLenKv: 8,
    });
    const expected = reference(q, k, k, { cuSeqLensQ: [0, 4, 8], cuSeqLensKv: [0, 8, 8] });
    expect((await ctx.download(lse)).toFloat32().filter(x => x === -Infinity)).toHaveLength(8);
    const got = (await ctx.download(o)).toFloat32();
    expected.o.toFloat32().forEach((x, n) => {
      expect(got[n]).toBeCloseTo(x, 5);
    });
  });

  test('that run past the tokens do not change the rows of other heads', async () => {
    const q = filled(4, 2, 8);
    const gpu = [q, q, q].map(t => ctx.upload(t)) as [never, never, never];
    const { lse } = sdpa(ctx, ...gpu, {
      cuSeqLensQ: ctx.upload(list(0, 8)),
      maxSeqLenQ: 8,
      cuSeqLensKv: [0, 4],
    });
    const expected = reference(q, q, q, { cuSeqLensQ: [0, 4], cuSeqLensKv: [0, 4] });
    const got = (await ctx.download(lse)).toFloat32();
    expected.lse.toFloat32().forEach((x, n) => {
      expect(got[n]).toBeCloseTo(x, 5);
    });
  });
});

describe('a plan on buffers of the caller', () => {
  const buffer = (bytes: number): GPUBuffer =>
    ctx.device.createBuffer({
      size: bytes,
      usage: bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST,
    });

  test('refuses a result in a buffer that the kernel reads, before anything is recorded', () => {
    const t = filled(1, 1, 4, 4);
    const plan = planSdpa(ctx, normalise({ q: t, k: t, v: t }).problem);
    const shared = buffer(1024);
    const buffers = {
      q: shared,
      k: buffer(64),
      v: buffer(64),
      o: { buffer: shared, offset: 512 },
      lse: buffer(16),
    };
    const encoder = ctx.device.createCommandEncoder();
    expect(() => plan.encode(encoder, buffers)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'buffers.o' }),
    );
    expect(() => encoder.finish()).not.toThrow();
  });

  test('refuses two results that share bytes once their bindings are rounded', () => {
    const t = filled(1, 1, 4, 4);
    const plan = planSdpa(ctx, normalise({ q: t, k: t, v: t }).problem);
    const results = buffer(1024);
    const inputs = { q: buffer(64), k: buffer(64), v: buffer(64) };
    const encode = (offset: number): void =>
      plan.encode(ctx.device.createCommandEncoder(), {
        ...inputs,
        o: results,
        lse: { buffer: results, offset },
      });
    expect(() => encode(64)).toThrow(/multiples of 256 bytes/);
    expect(() => encode(256)).not.toThrow();
  });

  test('writes nothing for an empty bias gradient', async () => {
    const q = Tensor.zeros([1, 1, 0, 4]);
    const k = filled(1, 1, 4, 4);
    const bias = Tensor.zeros([1, 1, 0, 4]);
    const lse = Tensor.zeros([1, 1, 0]);
    const { problem } = normaliseBackward({ q, k, v: k, o: q, lse, dO: q }, { bias, gradients: ['dbias'] });
    const plan = planSdpaBackward(ctx, problem);
    const canary = ctx.upload(Tensor.from(Array(16).fill(7), [16]));
    const any = buffer(256);
    const buffers = Object.fromEntries(plan.tensors.map(({ name }) => [name, any]));
    const encoder = ctx.device.createCommandEncoder();
    plan.encode(encoder, {
      ...buffers,
      workspace: buffer(256),
      dbias: { buffer: canary.buffer, offset: 16 },
    });
    ctx.device.queue.submit([encoder.finish()]);
    expect([...(await ctx.download(canary)).toFloat32()]).toEqual(Array(16).fill(7));
  });
});

test('tensors of different sizes reuse freed memory', () => {
  ctx.trim();
  const before = ctx.memory.current;
  for (let n = 0; n < 100; n++) ctx.allocate([100_000 + 16 * n], 'f32').destroy();
  expect(ctx.memory.current - before).toBeLessThan(1_000_000);
  ctx.trim();
});
