import { normalise } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { checkSupport } from '../../index.ts';

test.each([
  [192, 128],
  [512, 511],
])('forward and backward of head sizes %i and %i', async (Dqk, Dv) => {
  const ctx = await sharedContext();
  const call = {
    q: normal([1, 2, 18, Dqk], 1),
    k: normal([1, 1, 35, Dqk], 2),
    v: normal([1, 1, 35, Dv], 3),
    dO: normal([1, 2, 18, Dv], 4),
    options: { causal: 'bottom-right' } as const,
  };
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact);
});

test('larger head sizes are reported as unsupported', async () => {
  const ctx = await sharedContext();
  const t = normal([1, 1, 2, 513], 1);
  expect(checkSupport(ctx, normalise({ q: t, k: t, v: t }).problem).reasons).toEqual([
    'head size 513 is above 512',
  ]);
});
