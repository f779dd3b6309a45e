import { InvalidArgumentError, Tensor } from '@tilewise/core';
import { errorOf, gate, goldenCall, goldenCases, loadGolden, type MakeTensor } from '@tilewise/test-data';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createContext, type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '../index.ts';

let ctx: GpuContext;
beforeAll(async () => {
  const { adapter } = await openGpu();
  ctx = await createContext({ adapter });
});
afterAll(() => ctx.destroy());

describe.each(['f32', 'f16', 'bf16'] as const)('golden cases stored as %s', storage => {
  const makeTensor: MakeTensor<GpuTensor> = ({ data, shape }, as) =>
    ctx.upload(Tensor.from(data, shape, { dtype: as?.dtype ?? storage }));

  test.each(goldenCases())('%s', async name => {
    const golden = loadGolden(name);
    const { q, k, v, dO, dLse, options, expected } = goldenCall(golden, makeTensor);
    const { o, lse } = sdpa(ctx, q, k, v, options);
    const gradients = sdpaBackward(
      ctx,
      { q, k, v, o, lse, dO, ...(dLse ? { dLse } : {}) },
      { ...options, gradients: ['dq', 'dk', 'dv'] },
    );
    const results: Record<string, GpuTensor> = { o, lse, ...gradients };
    for (const [tensor, result] of Object.entries(results)) {
      const want = expected[tensor];
      if (!want) throw new InvalidArgumentError(tensor, 'is not in the golden case');
      const got = await ctx.download(result);
      expect(got.shape, tensor).toEqual(want.shape);
      const error = errorOf(got.toFloat64(), want.data);
      const allowed = gate(golden, tensor, storage);
      expect(error.max, `${tensor}, largest error`).toBeLessThanOrEqual(allowed.max);
      expect(error.rms, `${tensor}, rms error`).toBeLessThanOrEqual(allowed.rms);
    }
  });
});
