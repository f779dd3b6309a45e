import { expect, test } from 'vitest';
import { sharedContext } from '../../testing/shared-context.ts';
import { makeKernelPlan } from './kernel-plan.ts';
import { kernelSpec } from './kernel-spec.ts';

test('more workgroups than one dimension of a dispatch holds each run once', async () => {
  const ctx = await sharedContext();
  const groups = 140_001;
  expect(groups).toBeGreaterThan(2 * ctx.device.limits.maxComputeWorkgroupsPerDimension);
  const kernel = kernelSpec({
    name: 'counting',
    groups,
    workgroupSize: 1,
    parts: [
      {
        bindings: [{ name: 'visits', element: 'u32', access: 'read_write', elementBytes: 4, alignment: 4 }],
      },
    ],
    body: '  visits[group] += group + 1u;',
  });
  const visits = ctx.allocate([groups], 'u32');
  const encoder = ctx.device.createCommandEncoder();
  encoder.clearBuffer(visits.buffer);
  makeKernelPlan(ctx, { kernels: [kernel], spans: { visits: groups } }).encode(encoder, { visits });
  ctx.device.queue.submit([encoder.finish()]);
  const { data } = await ctx.download(visits);
  expect(data.findIndex((n, group) => n !== group + 1)).toBe(-1);
});
