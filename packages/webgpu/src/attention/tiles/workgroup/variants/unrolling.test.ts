import { expect, test } from 'vitest';
import {
  exactResults,
  gpuResults,
  normal,
  type Results,
} from '../../../../../testing/attention/attention-call.ts';
import { expectSameBits } from '../../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { createContext } from '../../../../index.ts';
import { defaultSizes } from '../../tile-table.ts';
import { workgroupTile } from '../workgroup-kind.ts';
import type { WorkgroupTileShape, WorkgroupTileSizes } from '../workgroup-tile.ts';

const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, 37, 36], seed));
// Padding that must not be multiplied, in the middle of the rows that are read together.
for (const tensor of [k, v]) tensor.data.fill(Number.NaN, 30 * 36, 37 * 36);
const call = { q, k, v, dO, options: { causal: true, seqLensKv: [30] } };

const variantResults = async (tile: WorkgroupTileShape): Promise<Results> => {
  const { device } = await sharedContext();
  const each = workgroupTile(tile);
  const ctx = await createContext({ device, tiles: () => ({ forward: each, dq: each, dkdv: each }) });
  const got = await gpuResults(ctx, call, exactResults(call));
  ctx.destroy();
  return got;
};

/** A tile with few reads per lane: SwiftShader compiles more prefetched reads for minutes. */
const small: WorkgroupTileSizes = { tx: 8, ty: 8, headDimChunk: 2 };

test.each<readonly [WorkgroupTileSizes, Partial<WorkgroupTileShape>]>([
  [defaultSizes, { unrolled: true }],
  [{ tx: 4, ty: 4, headDimChunk: 3 }, { unrolled: true }],
  [{ tx: 8, ty: 8, headDimChunk: 5 }, { unrolled: true }],
  [small, { unrolled: true, prefetch: true }],
])('unrolled tiles give the same bits as tiles with loops: %o, %o', async (sizes, variant) => {
  const looped = await variantResults(sizes);
  expect(Object.keys(looped)).toEqual(['o', 'lse', 'dq', 'dk', 'dv']);
  expectSameBits(await variantResults({ ...sizes, ...variant }), looped);
});
