import { sdpa as hostSdpa } from '@tilewise/core/cpu';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { sdpa } from '../../index.ts';

const long = 131072;

test('two queries look back on 131,072 keys', async () => {
  const ctx = await sharedContext();
  const q = normal([1, 1, 2, 16], 1);
  const [k, v] = [2, 3].map(seed => normal([1, 1, long, 16], seed));
  const options = { causal: 'bottom-right' } as const;
  const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
  expectAgreement(
    { o: await ctx.download(o), lse: await ctx.download(lse) },
    {
      ...exactSdpa(q, k, v, options),
    },
  );
});

test('131,072 queries look at their neighbours', async () => {
  const ctx = await sharedContext();
  const [q, k, v] = [1, 2, 3].map(seed => normal([1, 1, long, 4], seed));
  const options = { window: { left: 64, right: 0 } };
  const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
  const got = { o: await ctx.download(o), lse: await ctx.download(lse) };
  // The reference would take a minute, so the CPU engine stands in; its own package compares it with the
  // reference.
  expectAgreement(got, { ...hostSdpa(q, k, v, options) });
  const last = [q, k, v].map(t => t.slice(2, long - 80, long));
  const exact = exactSdpa(last[0], last[1], last[2], options);
  expectAgreement(
    { o: got.o.slice(2, long - 16, long), lse: got.lse.slice(2, long - 16, long) },
    { o: exact.o.slice(2, 64, 80), lse: exact.lse.slice(2, 64, 80) },
  );
});

test('the gradients of 8,192 queries that look at their neighbours', async () => {
  const ctx = await sharedContext();
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 1, 8192, 4], seed));
  const call = { q, k, v, dO, options: { window: { left: 12, right: 3 } } };
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact);
});
