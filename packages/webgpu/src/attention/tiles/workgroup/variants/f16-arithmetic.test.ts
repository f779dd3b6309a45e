import { Tensor } from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { errorOf } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { normal } from '../../../../../testing/attention/attention-call.ts';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { createContext, sdpa } from '../../../../index.ts';
import { toleranceOf } from '../../../../tune/agreement.ts';
import { workgroupTile } from '../workgroup-kind.ts';

const tile = workgroupTile({ tx: 4, ty: 4, headDimChunk: 4, stagingDType: 'f16', arithmetic: 'f16' });
const [S, D] = [70, 24];
const largest = (tensor: Tensor): number => Math.max(...tensor.toFloat32().map(Math.abs));

/** Numbers scaled by this factor; from row 60 on, the rows are padding and hold NaN. */
function times(factor: number, seed: number): { values: Tensor; padded: Tensor } {
  const scaled = normal([1, 1, S, D], seed)
    .toFloat32()
    .map(x => x * factor);
  const values = Tensor.from(scaled, [1, 1, S, D], { dtype: 'f16' });
  const padded = Tensor.from(scaled.fill(Number.NaN, 60 * D), [1, 1, S, D], { dtype: 'f16' });
  return { values, padded };
}

const { device, capabilities } = await sharedContext();

test.skipIf(!capabilities.features.includes('shader-f16')).each([
  ['normal numbers, in f16', { q: 1, k: 1, v: 1 }, toleranceOf('f16')],
  // Only the probabilities are then rounded to f16.
  ['a q that is too large, in f32', { q: 2000, k: 0.0005, v: 1 }, 2 ** -11],
  ['a v that is too large, in f32', { q: 0.0005, k: 2000, v: 1000 }, 2 ** -11],
])('%s', async (_, factors, error) => {
  const { values: q } = times(factors.q, 1);
  const [k, v] = [times(factors.k, 2).padded, times(factors.v, 3).padded];
  const options = { causal: true, seqLensKv: [60], outDType: 'f32' } as const;
  const exact = exactSdpa(q, k, v, options);
  const ctx = await createContext({ device, tiles: () => ({ forward: tile }) });
  const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
  expect(errorOf((await ctx.download(lse)).toFloat64(), exact.lse.toFloat64()).max).toBeLessThan(1e-2);
  const got = errorOf((await ctx.download(o)).toFloat64(), exact.o.toFloat64());
  expect(got.max / largest(times(factors.v, 3).values)).toBeLessThan(error);
  ctx.destroy();
});
