import { Tensor } from '@tilewise/core';
import {
  errorOf,
  type GoldenCase,
  gate,
  goldenCall,
  type MakeTensor,
  type StorageDType,
} from '@tilewise/test-data/golden';
import { type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '../../src/index.ts';

/**
 * Compares the results of a golden case, with its inputs stored in a dtype, with the expected results.
 * Returns a line for each result that differs.
 */
export async function goldenDisagreements(
  ctx: GpuContext,
  golden: GoldenCase,
  storage: StorageDType,
): Promise<string[]> {
  const makeTensor: MakeTensor<GpuTensor> = ({ data, shape }, as) =>
    ctx.upload(Tensor.from(data, shape, { dtype: as?.dtype ?? storage }));
  const { q, k, v, dO, dLse, options, expected } = goldenCall(golden, makeTensor);
  const { o, lse } = sdpa(ctx, q, k, v, options);
  const gradients = sdpaBackward(ctx, { q, k, v, o, lse, dO, ...(dLse ? { dLse } : {}) }, options);
  const results = new Map(Object.entries({ o, lse, ...gradients }));
  const lines = [...results.keys()]
    .filter(name => results.get(name) && !(name in expected))
    .map(name => `${name} was not asked for`);
  for (const [name, want] of Object.entries(expected)) {
    const tensor = results.get(name) as GpuTensor | undefined;
    if (!tensor) {
      lines.push(`${name} is missing`);
      continue;
    }
    const got = await ctx.download(tensor);
    if (String(got.shape) !== String(want.shape)) {
      lines.push(`${name} has shape [${got.shape}], the case has [${want.shape}]`);
      continue;
    }
    const error = errorOf(got.toFloat64(), want.data);
    const allowed = gate(golden, name, storage);
    if (!(error.max <= allowed.max && error.rms <= allowed.rms))
      lines.push(
        `${name} has errors of ${error.max}, rms ${error.rms}; allowed ${allowed.max}, rms ${allowed.rms}`,
      );
  }
  return lines;
}
