import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { candidatesFor } from './measure.ts';

/** NVIDIA's. */
const matrices = [{ componentType: 'f16', resultComponentType: 'f32', M: 16, N: 16, K: 16 }];

test('every candidate compiles where an adapter has everything', async () => {
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
  for (const { name, wgsl } of candidates) {
    const { messages } = await device.createShaderModule({ code: wgsl }).getCompilationInfo();
    expect(
      messages.filter(({ type }) => type === 'error').map(({ message }) => message),
      name,
    ).toEqual([]);
  }
  device.destroy();
});
