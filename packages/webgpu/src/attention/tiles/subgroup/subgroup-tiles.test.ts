import { normalise, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { createContext, planSdpa } from '../../../index.ts';
import { subgroupTile } from '../../../subpaths/tiles.ts';
import type { Stationary, Tile } from '../tile.ts';

test('problems that repay it run on tiles of subgroups on adapters that compute on a CPU', async () => {
  const ctx = await sharedContext();
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, 270, 20], seed));
  const call = { q, k, v, dO, options: { causal: true, seqLensKv: [251] } };
  const plan = planSdpa(ctx, normalise({ q, k, v }, call.options).problem);
  const isShowing = plan.kernels.some(({ wgsl }) => wgsl.includes('subgroupShuffle'));
  expect(isShowing).toBe(['mesa software', 'google swiftshader'].includes(ctx.capabilities.adapter));
  plan.destroy();
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 40 });
});

const { device, capabilities } = await sharedContext();
const isSubgroup = capabilities.features.includes('subgroups') && capabilities.subgroupMinSize >= 4;

test.skipIf(!isSubgroup)(
  'on tiles of subgroups, non-finite values in masked keys reach nothing, and sequences may be empty',
  async () => {
    const tile = (stationary: Stationary): Tile =>
      subgroupTile({
        ...{ stationary, lanes: 8 },
        ...(capabilities.subgroupMinSize < 8
          ? { group: 4 }
          : { group: 8, rows: stationary === 'keys' ? 8 : 4 }),
      });
    const tiles = () => ({ forward: tile('queries'), dq: tile('queries'), dkdv: tile('keys') });
    const ctx = await createContext({ device, tiles });
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
