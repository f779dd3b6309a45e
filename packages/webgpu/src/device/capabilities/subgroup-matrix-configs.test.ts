import { expect, test } from 'vitest';
import { subgroupMatrixFeature } from '../webgpu-flags.ts';
import { subgroupMatrixConfigsOf } from './subgroup-matrix-configs.ts';

const config = { M: 16, N: 16, K: 16, componentType: 'f16', resultComponentType: 'f32' };
const shape = { M: 16, N: 16, K: 16, component: 'f16' };
const small = { M: 8, N: 8, K: 8, component: 'f32' };

/**
 * A fake device with only what the search for configurations uses; `compiles` selects the kernels that
 * compile.
 */
function deviceWith({
  features = ['shader-f16', subgroupMatrixFeature],
  named = [] as readonly object[],
  compiles = /never/,
  texts = [] as string[],
}): GPUDevice {
  return {
    features: new Set(features),
    adapterInfo: { subgroupMatrixConfigs: named, subgroupMaxSize: 64 },
    pushErrorScope: () => {},
    popErrorScope: async () => null,
    createShaderModule: ({ code }: { readonly code: string }) => code,
    async createComputePipelineAsync({ compute }: { readonly compute: { readonly module: string } }) {
      texts.push(compute.module);
      if (!compiles.test(compute.module)) throw new Error('no such matrix');
    },
  } as unknown as GPUDevice;
}

const adapterWith = (...named: readonly object[]): GPUAdapter =>
  ({ info: { subgroupMatrixConfigs: named } }) as unknown as GPUAdapter;

test('a device without the feature has none, and compiles nothing', async () => {
  const texts: string[] = [];
  expect(await subgroupMatrixConfigsOf(deviceWith({ features: [], named: [config], texts }))).toEqual([]);
  expect(texts).toEqual([]);
});

test('the configurations are those that the device lists', async () => {
  expect(await subgroupMatrixConfigsOf(deviceWith({ named: [config] }))).toEqual([shape]);
});

test('a device that lists none has the configurations of its adapter', async () => {
  expect(await subgroupMatrixConfigsOf(deviceWith({}), adapterWith(config))).toEqual([shape]);
});

test('listed configurations count once each, with f32 sums, in dtypes that the device computes, the largest first', async () => {
  const others = [
    { ...config, resultComponentType: 'f16' },
    { ...config, M: 32 },
    { ...config, componentType: 'i8', resultComponentType: 'i32' },
  ];
  const eight = { M: 8, N: 8, K: 8, componentType: 'f32', resultComponentType: 'f32' };
  const named = [eight, ...others, config, config];
  expect(await subgroupMatrixConfigsOf(deviceWith({ named }))).toEqual([shape, small]);
  expect(await subgroupMatrixConfigsOf(deviceWith({ named, features: [subgroupMatrixFeature] }))).toEqual([
    small,
  ]);
});

test('if neither the device nor its adapter lists any, those that the device compiles are used, tried once', async () => {
  const texts: string[] = [];
  const device = deviceWith({ compiles: /left<f16, 16, 16>.*\n.*right<f16, 16, 16>|left<f32, 8, 8>/, texts });
  expect(await subgroupMatrixConfigsOf(device)).toEqual([shape, small]);
  expect(texts.every(text => text.includes('@workgroup_size(64)'))).toBe(true);
  const tried = texts.length;
  expect(await subgroupMatrixConfigsOf(device, adapterWith())).toEqual([shape, small]);
  expect(texts).toHaveLength(tried);
});

test('without f16, no f16 kernel is tried', async () => {
  const texts: string[] = [];
  expect(
    await subgroupMatrixConfigsOf(deviceWith({ features: [subgroupMatrixFeature], compiles: /./, texts })),
  ).toEqual([small]);
  expect(texts.join()).not.toContain('f16');
});
