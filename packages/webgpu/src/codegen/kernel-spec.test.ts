import { expect, test } from 'vitest';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { DevicePlan } from '../runtime/plan/device-plan.ts';
import { kernelSpec } from './kernel-spec.ts';

test('if there are more workgroups than one dimension of a dispatch allows, each runs once', async () => {
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
  new DevicePlan(ctx, { kernels: [kernel], spans: { visits: groups } }).encode(encoder, { visits });
  ctx.device.queue.submit([encoder.finish()]);
  const { data } = await ctx.download(visits);
  expect(data.findIndex((n, group) => n !== group + 1)).toBe(-1);
});

test('workgroup memory that a kernel does not use is not declared', () => {
  const part = {
    code: 'var<workgroup> total: array<f32, 64>;\nvar<workgroup> total_of_rows: array<f32, 4>;\n\nfn two() -> f32 { return 2.0; }',
  };
  const kernel = (body: string) =>
    kernelSpec({ name: 'idle', groups: 1, workgroupSize: 64, parts: [part], body }).wgsl;
  expect(kernel('  total[lane] = two();')).toMatch(/var<workgroup> total: .*\n\nfn two/);
  expect(kernel('  total[lane] = two();')).not.toContain('total_of_rows');
  expect(kernel('  let x = two();')).not.toContain('workgroup>');
});
