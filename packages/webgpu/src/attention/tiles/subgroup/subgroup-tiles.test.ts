import { normalise, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import {
  exactResults,
  gpuForward,
  gpuResults,
  normal,
} from '../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { createContext, guaranteedCapabilities, planSdpa, type TileSelector } from '../../../index.ts';
import { subgroupTile } from '../../../subpaths/tiles.ts';
import type { Stationary, Tile } from '../tile.ts';
import { subgroupShapeFor } from '../tile-table.ts';

test('large problems run on subgroup tiles on adapters that compute on a CPU', async () => {
  const ctx = await sharedContext();
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, 270, 20], seed));
  const call = { q, k, v, dO, options: { causal: true, seqLensKv: [251] } };
  const plan = planSdpa(ctx, normalise({ q, k, v }, call.options).problem);
  const isShowing = plan.kernels.some(({ wgsl }) => wgsl.includes('_streamed'));
  expect(isShowing).toBe(['mesa software', 'google swiftshader'].includes(ctx.capabilities.adapter));
  plan.destroy();
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 40 });
});

test.each([
  ['heads of few channels, which compile fast', [1, 1, 17, 32], 8, 4],
  ['few queries, whose forward other tiles compute', [1, 1, 16, 32], 8, null],
  ['few scores of more channels, which other tiles compute', [1, 1, 64, 40], 8, null],
  ['scores that repay compiling', [1, 4, 256, 64], 8, 4],
  ['scores that repay compiling eight rows', [1, 8, 512, 64], 8, 8],
  ['channels of which eight rows do not stay in the cache', [1, 8, 1024, 72], 8, 4],
  ['few scores where reads are what compiles', [1, 1, 64, 8], 4, null],
  ['many scores in groups of 4', [1, 8, 512, 16], 4, 4],
] as const)(
  'lanes of subgroup tiles hold the number of rows that is fastest: %s',
  (_, shape, subgroupMinSize, rows) => {
    const x = Tensor.zeros(shape);
    const { problem } = normalise({ q: x, k: x, v: x });
    const adapter = subgroupMinSize === 8 ? 'mesa software' : 'google swiftshader';
    const capabilities = { ...guaranteedCapabilities, adapter, subgroupMinSize };
    for (const stationary of ['queries', 'keys'] as const)
      expect(subgroupShapeFor(stationary, problem, capabilities)?.rows ?? null).toBe(rows);
  },
);

const { device, capabilities } = await sharedContext();
const isSubgroup = capabilities.features.includes('subgroups') && capabilities.subgroupMinSize >= 4;

const subgroupTiles: TileSelector = () => {
  const tile = (stationary: Stationary): Tile =>
    subgroupTile({
      ...{ stationary, lanes: 8 },
      ...(capabilities.subgroupMinSize < 8
        ? { group: 4 }
        : { group: 8, rows: stationary === 'keys' ? 8 : 4 }),
    });
  return { forward: tile('queries'), dq: tile('queries'), dkdv: tile('keys') };
};

test.skipIf(!isSubgroup)(
  'keys with a bias of the lowest number count only in rows that see no others',
  async () => {
    const ctx = await createContext({ device, tiles: subgroupTiles });
    const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 1, 60, 16], seed));
    // As models pad: the first groups of keys have such a bias.
    const bias = Tensor.from(
      Array.from({ length: 60 }, (_, s) => (s < 40 ? -3.4028234663852886e38 : 0)),
      [60],
    );
    const padded = { q, k, v, dO, options: { causal: true, bias } };
    const { o, lse } = exactResults(padded);
    expectAgreement(await gpuForward(ctx, padded), { o, lse });
    ctx.destroy();
  },
);

test.skipIf(!isSubgroup)(
  'on subgroup tiles, non-finite values in masked keys reach no result, and sequences may be empty',
  async () => {
    const ctx = await createContext({ device, tiles: subgroupTiles });
    const [Sq, Skv] = [45, 53];
    const isHidden = (s: number): boolean => s % 5 === 2;
    const dirty = (t: Tensor): Tensor => {
      const copy = t.contiguous();
      for (const [n, at] of [...copy.offsets()].entries())
        if (isHidden(Math.floor(n / 10) % Skv)) copy.data[at] = [NaN, Infinity, -Infinity][n % 3];
      return copy;
    };
    const mask = Tensor.from(
      Array.from({ length: Skv }, (_, s) => Number(!isHidden(s))),
      [Skv],
      { dtype: 'bool' },
    );
    const [q, k, v, dO] = [
      normal([3, 4, Sq, 10], 1),
      normal([3, 2, Skv, 10], 2),
      normal([3, 2, Skv, 10], 3),
      normal([3, 4, Sq, 10], 4),
    ];
    const options = { causal: 'bottom-right', mask, seqLensQ: [45, 0, 17], seqLensKv: [31, 53, 0] } as const;
    const exact = exactResults({ q, k, v, dO, options });
    const call = { q, k: dirty(k), v: dirty(v), dO, options };
    expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 40 });
    ctx.destroy();
  },
);
