import { normalise } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../testing/attention-call.ts';
import { expectAgreement } from '../../testing/expect-agreement.ts';
import { sharedContext } from '../../testing/shared-context.ts';
import { planSdpa } from '../index.ts';

test('problems that repay it run on tiles of subgroups on adapters of Mesa that compute on a CPU', async () => {
  const ctx = await sharedContext();
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, 270, 20], seed));
  const call = { q, k, v, dO, options: { causal: true, seqLensKv: [251] } };
  const plan = planSdpa(ctx, normalise(call, call.options).problem);
  const isShowing = plan.kernels.some(({ wgsl }) => wgsl.includes('subgroupShuffle'));
  expect(isShowing).toBe(ctx.capabilities.adapter === 'mesa software');
  plan.destroy();
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 40 });
});
