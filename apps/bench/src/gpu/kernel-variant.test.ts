import { normalise, Tensor } from '@tilewise/core';
import { createContext, planSdpa } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { kernelVariants } from './kernel-variant.ts';

test('the name of a kernel has its lanes and the features that it uses', () => {
  const wgsl = `enable f16;
enable subgroups;
var<workgroup> tile: array<f16, 64>;
@compute @workgroup_size(8, 16)
fn main() {}`;
  expect(kernelVariants([{ name: 'attention forward', wgsl }])).toBe(
    'forward (128 lanes + workgroup memory + f16 + subgroups)',
  );
});

test('the kernels of plans are described', async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  const ctx = await createContext({ adapter });
  const q = Tensor.zeros([1, 1, 64, 16]);
  const { kernels } = planSdpa(ctx, normalise({ q, k: q, v: q }).problem);
  expect(kernelVariants(kernels)).toMatch(/^forward \([1-9]\d* lanes/);
  ctx.destroy();
});
