import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { candidatesFor } from './candidates.ts';

/** NVIDIA's. */
const matrices = [{ M: 16, N: 16, K: 16 }];

test('every candidate compiles on an adapter with all features', async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  const names = ['shader-f16', 'subgroups', 'chromium-experimental-subgroup-matrix'] as GPUFeatureName[];
  const { maxComputeWorkgroupStorageSize } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredFeatures: names.filter(name => adapter.features.has(name)),
    requiredLimits: { maxComputeWorkgroupStorageSize },
  });
  const candidates = candidatesFor({ device, matrices, maxSubgroupSize: 32 }, 512);
  expect(new Set(candidates.map(({ precision }) => precision))).toEqual(
    new Set(['f32', 'f16', 'subgroup matrix']),
  );
  const failures = await Promise.all(
    candidates.map(async ({ name, precision, wgsl }) => {
      const module = device.createShaderModule({ code: wgsl });
      const made = device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
      return { name, precision, failure: await made.then(() => '', String) };
    }),
  );
  // Some matrices need more workgroup memory than this backend has, which Dawn reports only if everything
  // else is right.
  const large = /total use of workgroup storage/;
  expect(failures.filter(({ failure }) => failure && !large.test(failure))).toEqual([]);
  const made = failures.filter(({ failure, precision }) => !failure && precision === 'subgroup matrix');
  expect(made.map(({ name }) => name)).toEqual([
    expect.stringContaining('staged'),
    expect.stringContaining('direct'),
  ]);
  device.destroy();
});
