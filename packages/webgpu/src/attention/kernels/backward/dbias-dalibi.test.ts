import { normalise } from '@tilewise/core';
import { describe, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../../testing/attention/attention-call.ts';
import { expectAgreement, expectSameBits } from '../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { createContext } from '../../../index.ts';
import { subgroupTile, workgroupTile } from '../../../subpaths/tiles.ts';

// Two sequences of four heads and three tiles of queries, all of which contribute to each sum.
const [B, H, S, D] = [2, 4, 70, 8];
const tensors = {
  q: normal([B, H, S, D], 1),
  k: normal([B, 2, S, D], 2),
  v: normal([B, 2, S, D], 3),
  dO: normal([B, H, S, D], 4),
};

const options = { causal: 'bottom-right', window: { left: 50 }, gradients: ['dbias'] } as const;
const { problem } = normalise(tensors, options);
const tiles = [
  workgroupTile({ tx: 2, ty: 3, headDimChunk: 4, rows: 8, cols: 2, prefetch: true }),
  subgroupTile({ stationary: 'queries', lanes: 8, group: 4 }),
  subgroupTile({ stationary: 'queries', lanes: 16, group: 8, rows: 8 }),
];

describe('sums over many scores', () => {
  test.each([
    { shape: [1] },
    { shape: [S] },
    { shape: [H, 1, 1] },
    { shape: [B, 1, 1, S] },
    { shape: [S, 1] },
    { shape: [S, S] },
  ])('dbias of shape $shape', async ({ shape }) => {
    const options = { bias: normal(shape, 5), causal: true, gradients: ['dbias'] } as const;
    const call = { ...tensors, options };
    const exact = exactResults(call);
    expectAgreement(await gpuResults(await sharedContext(), call, exact), exact);
  });

  test.each(tiles)('dbias on the tile $shape', async tile => {
    const { device, capabilities } = await sharedContext();
    if (tile.unsupported('dq', problem, capabilities) !== null) return;
    const ctx = await createContext({ device, tiles: () => ({ dq: tile }) });
    for (const shape of [
      [S, S],
      [H, 1, S],
      [B, 1, S, 1],
      [H, 1, 1],
    ]) {
      const call = { ...tensors, options: { ...options, bias: normal(shape, 5) } };
      const exact = exactResults(call);
      expectAgreement(await gpuResults(ctx, call, exact), exact);
    }
    ctx.destroy();
  });

  test('dAlibi, of sequences of several lengths', async () => {
    const options = {
      alibi: [0.1, 0.2, 0.3, 0],
      seqLensQ: [S, 40],
      seqLensKv: [33, S],
      gradients: ['dAlibi'],
    } as const;
    const call = { ...tensors, options };
    const exact = exactResults(call);
    expectAgreement(await gpuResults(await sharedContext(), call, exact), exact, { distance: S });
  });

  test('are the same bits in every run', async () => {
    const ctx = await sharedContext();
    const options = {
      bias: normal([S], 5),
      alibi: [0.1, 0.2, 0.3, 0],
      gradients: ['dbias', 'dAlibi'],
    } as const;
    const call = { ...tensors, options };
    expectSameBits(await gpuResults(ctx, call), await gpuResults(ctx, call));
  });
});
