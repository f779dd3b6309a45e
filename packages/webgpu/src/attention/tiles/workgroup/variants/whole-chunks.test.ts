import { normalise, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { createContext, planSdpa } from '../../../../index.ts';
import { workgroupTile } from '../workgroup-kind.ts';
import type { WorkgroupTileShape } from '../workgroup-tile.ts';

const textOf = async (D: number, variant: Partial<WorkgroupTileShape>): Promise<string> => {
  const tile = workgroupTile({ tx: 8, ty: 8, headDimChunk: 4, ...variant });
  const { device } = await sharedContext();
  const ctx = await createContext({ device, tiles: () => ({ forward: tile }) });
  const x = Tensor.zeros([1, 1, 64, D]);
  return planSdpa(ctx, normalise({ q: x, k: x, v: x }).problem).kernels[0].wgsl;
};

test('loops over chunks have a constant bound if all chunks are whole', async () => {
  expect(await textOf(64, { unrolled: true })).toContain('const used = 4u;');
  expect(await textOf(64, { prefetch: true })).toContain('const used = 4u;');
  expect(await textOf(36, { unrolled: true })).toContain('let used = min(4u,');
});

test('a plain tile, which saves registers, has no such loops', async () => {
  expect(await textOf(64, {})).toContain('let used = min(4u,');
});
