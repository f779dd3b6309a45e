import { type DType, Tensor } from '@tilewise/core';
import { openGpu } from '@tilewise/webgpu-host';
import { describe, expect, test } from 'vitest';
import {
  type Capabilities,
  createContext,
  guaranteedCapabilities,
  type KernelSpec,
  type SubgroupMatrixConfig,
} from '../../../../index.ts';
import { loadTileKinds } from '../../../../runtime/tile-kinds/load-tile-kinds.ts';
import { matmulKernels } from '../../matmul.ts';
import type { MatMulTileSelector } from '../tile.ts';
import { tileFor } from '../tile-table.ts';
import { matrixMatMulTile } from './matrix-matmul-tiles.ts';

/** A device with matrices of one shape. */
const able = (adapter: string, matrix: SubgroupMatrixConfig, more?: Partial<Capabilities>): Capabilities => ({
  ...{ ...guaranteedCapabilities, adapter, maxComputeWorkgroupStorageSize: 32768 },
  ...{ features: ['shader-f16', 'subgroups'], subgroupMinSize: 32, subgroupMaxSize: 32 },
  ...{ subgroupMatrixConfigs: [matrix], ...more },
});
const half: SubgroupMatrixConfig = { M: 16, N: 16, K: 16, component: 'f16' };
const single: SubgroupMatrixConfig = { M: 8, N: 8, K: 8, component: 'f32' };
const nvidia = able('nvidia hopper', half);
const amd = able('amd rdna-3', half);
const apple = able('apple common-3', single);

const sizeOf = (
  capabilities: Capabilities,
  M: number,
  N: number,
  dtypes: DType[] = ['f16', 'f16'],
  count = 1,
): string | null => {
  const size = { M, N, K: 512, count };
  const tile = matrixMatMulTile(size, dtypes, capabilities, tileFor(size, capabilities));
  return tile && `${tile.M} × ${tile.N}`;
};

describe('the tile', () => {
  test('is the largest that fills the device and fits its registers', () => {
    expect(sizeOf(nvidia, 4096, 4096)).toBe('128 × 128');
    expect(sizeOf(nvidia, 768, 768)).toBe('64 × 128');
    expect(sizeOf(nvidia, 640, 640)).toBe('64 × 64');
    expect(sizeOf(nvidia, 256, 256)).toBe('32 × 32');
    expect(sizeOf(amd, 4096, 4096)).toBe('64 × 128');
    expect(sizeOf(apple, 4096, 4096, ['f32', 'f32'])).toBe('64 × 64');
  });

  test('does not consist of padding, however many matrices there are', () => {
    expect(sizeOf(nvidia, 17, 17, ['f16', 'f16'], 4096)).toBe('32 × 32');
    expect(sizeOf(nvidia, 64, 64, ['f16', 'f16'], 128)).toBe('64 × 64');
    expect(sizeOf(nvidia, 1024, 64, ['f16', 'f16'], 32)).toBe('128 × 64');
    expect(sizeOf(nvidia, 1000, 1000, ['f16', 'f16'], 32)).toBe('128 × 128');
  });

  test('stages fewer steps of the sum if workgroup memory is small, and does not exist without any', () => {
    const with16 = { ...nvidia, maxComputeWorkgroupStorageSize: 16384 };
    expect(sizeOf(with16, 4096, 4096)).toBe('128 × 128');
    expect(sizeOf({ ...with16, maxComputeWorkgroupStorageSize: 4096 }, 4096, 4096)).toBeNull();
  });

  test('has f16 matrices if both operands are exact in f16', () => {
    const both = { ...nvidia, subgroupMatrixConfigs: [single, half] };
    const { wgsl } = kernelOf(both, [matrix(256, 64, 'f16'), matrix(64, 256, 'f16')]);
    expect(wgsl).toContain('subgroup_matrix_left<f16');
    const { wgsl: wide } = kernelOf(both, [matrix(256, 64, 'f32'), matrix(64, 256, 'f16')]);
    expect(wide).toContain('subgroup_matrix_left<f32');
  });

  test.each<[dtypes: DType[], device: Capabilities, is: boolean]>([
    [['f16', 'f16'], nvidia, true],
    [['f8e4m3', 'f8e5m2'], nvidia, true],
    [['f16', 'bf16'], nvidia, false],
    [['f16', 'f16', 'f32', 'f16'], nvidia, false],
    [['bf16', 'f32'], apple, true],
    [['f16', 'f16'], { ...nvidia, subgroupMaxSize: 64 }, false],
    [['f16', 'f16'], { ...nvidia, subgroupMaxSize: 64, features: ['subgroup-size-control'] }, true],
  ])('multiplies %j only if nothing is rounded, and subgroups have 32 lanes (%#)', (dtypes, device, is) => {
    expect(sizeOf(device, 512, 512, dtypes) !== null).toBe(is);
  });
});

/** The kernel of x0 · x1 for these tensors. */
function kernelOf(
  capabilities: Capabilities,
  inputs: readonly Tensor[],
  terms = 1,
  tiles: MatMulTileSelector | undefined = matrixMatMulTile,
): KernelSpec {
  const [M, N] = [inputs[0].shape[0], inputs[1].shape[1]];
  const { kernels } = matmulKernels(
    { kind: 'matmul', terms },
    {
      inputs,
      outputs: [Tensor.zeros([M, N], { dtype: inputs[0].dtype })],
      unaligned: new Set<string>(),
      capabilities,
    },
    tiles,
  );
  return kernels[0];
}
const matrix = (M: number, N: number, dtype: DType): Tensor => Tensor.zeros([M, N], { dtype });

test('a sum of products uses matrices only if the operands of all terms are exact', () => {
  const f16 = [matrix(64, 32, 'f16'), matrix(32, 64, 'f16')];
  const f32 = [matrix(64, 32, 'f32'), matrix(32, 64, 'f32')];
  expect(kernelOf(nvidia, [...f16, ...f16], 2).wgsl).toContain('subgroupMatrixLoad');
  expect(kernelOf(nvidia, [...f16, ...f32], 2).wgsl).not.toContain('subgroupMatrix');
});

test('kernels request subgroups of 32 lanes on devices that have others, too', () => {
  const inputs = [matrix(64, 64, 'f16'), matrix(64, 64, 'f16')];
  const many = { ...nvidia, subgroupMaxSize: 64, features: ['subgroup-size-control'] };
  expect(kernelOf(many, inputs).wgsl).toContain('@subgroup_size(32)');
  expect(kernelOf(nvidia, inputs).wgsl).not.toContain('@subgroup_size');
});

test('a context loads the tiles if its device has matrices, for products without flat tiles', async () => {
  const usesMatrices = async (capabilities: Capabilities, M: number, N: number): Promise<boolean> => {
    const { matmulTiles } = await loadTileKinds(capabilities);
    const operands = [matrix(M, 64, 'f16'), matrix(64, N, 'f16')];
    return kernelOf(capabilities, operands, 1, matmulTiles).wgsl.includes('subgroupMatrixLoad');
  };
  expect(await usesMatrices(nvidia, 64, 64)).toBe(true);
  expect(await usesMatrices(nvidia, 16, 64)).toBe(false);
  expect(await usesMatrices(nvidia, 64, 16)).toBe(false);
  expect(await usesMatrices({ ...nvidia, subgroupMatrixConfigs: [] }, 64, 64)).toBe(false);
});

test('the kernel on matrices equals the file in wgsl', async () => {
  const kernel = kernelOf(nvidia, [matrix(1024, 1024, 'f16'), matrix(1024, 1024, 'f16')]);
  await expect(kernel.wgsl).toMatchFileSnapshot('../../../../../wgsl/matmul-matrix.wgsl');
});

test.each([
  ['f16', nvidia],
  ['f16', able('nvidia hopper', { M: 16, N: 8, K: 8, component: 'f16' })],
  ['f16', { ...nvidia, subgroupMaxSize: 64, features: ['subgroup-size-control'] }],
  ['f32', apple],
  ['bf16', apple],
] as const)('the text for %s is accepted by a compiler (%#)', async (dtype, capabilities) => {
  const { adapter } = await openGpu({ backend: 'null' });
  const ctx = await createContext({ adapter });
  const inputs = [
    [matrix(256, 64, dtype), matrix(64, 256, dtype)],
    [matrix(64, 256, dtype).permute(1, 0), matrix(256, 64, dtype).permute(1, 0)],
    [matrix(99, 33, dtype), matrix(33, 99, dtype)],
    [matrix(64, 32, dtype), matrix(32, 64, dtype), matrix(64, 9, dtype), matrix(9, 64, dtype)],
  ];
  for (const tensors of inputs) {
    const { wgsl } = kernelOf(capabilities, tensors, tensors.length / 2);
    expect(wgsl).toContain('subgroupMatrixMultiplyAccumulate');
    ctx.device.pushErrorScope('validation');
    const { messages } = await ctx.device.createShaderModule({ code: wgsl }).getCompilationInfo();
    await ctx.device.popErrorScope();
    expect(messages.filter(({ type }) => type === 'error').map(({ message }) => message)).toEqual([]);
  }
  ctx.destroy();
});
