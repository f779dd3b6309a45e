import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tilesOfMatrices, tilesOfSubgroups } from '../../../testing/attention/tile-kinds.ts';
import { factors, kernelsOf, type Variant, variants } from '../../../testing/attention/variants.ts';
import {
  type Capabilities,
  createContext,
  type GpuContext,
  guaranteedCapabilities,
  type KernelSpec,
  type TileSelector,
} from '../../index.ts';
import { compileAsync } from '../../runtime/plan/pipelines.ts';
import { type WorkgroupTileShape, workgroupTile } from '../../subpaths/tiles.ts';
import { matrixTiles } from './matrix/matrix-tiles.ts';
import { defaultSizes } from './tile-table.ts';

// Dawn's null backend checks WGSL as any other backend does, offers only what WebGPU guarantees, and runs
// nothing.
let ctx: GpuContext;
beforeAll(async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  ctx = await createContext({ adapter });
});
afterAll(() => ctx.destroy());

/** The compile errors of a kernel, if any. */
async function complaints({ device, capabilities }: GpuContext, kernel: KernelSpec): Promise<string[]> {
  // A kernel with too many bindings for this device cannot have a pipeline, but its text can be checked.
  if (kernel.bindings.length > capabilities.maxStorageBuffersPerShaderStage) {
    device.pushErrorScope('validation');
    const { messages } = await device.createShaderModule({ code: kernel.wgsl }).getCompilationInfo();
    await device.popErrorScope();
    return messages.filter(({ type }) => type === 'error').map(({ message }) => message);
  }
  device.pushErrorScope('validation');
  const pipeline = compileAsync(device, kernel).catch((error: Error) => error);
  const invalid = await device.popErrorScope();
  const rejected = await pipeline;
  return [invalid?.message, rejected?.message].filter(message => message !== undefined);
}

/** Variables in workgroup memory that a text declares but does not use. */
const idleVariables = ({ wgsl }: KernelSpec): string[] =>
  [...wgsl.matchAll(/var<workgroup>\s*(\w+)/g)]
    .map(([, name]) => name)
    .filter(name => [...wgsl.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length === 1);

const nameOf = (variant: Variant): string => JSON.stringify(variant);

test('every kernel variant compiles within the limits that WebGPU guarantees, and declares no unused workgroup memory', async () => {
  const seen = new Set<string>();
  for (const variant of variants) {
    for (const kernel of kernelsOf(variant, ctx.capabilities)) {
      if (seen.has(kernel.wgsl)) continue;
      seen.add(kernel.wgsl);
      expect(await complaints(ctx, kernel), `${kernel.name} of ${nameOf(variant)}`).toEqual([]);
      expect(idleVariables(kernel), `${kernel.name} of ${nameOf(variant)}`).toEqual([]);
    }
  }
  expect(seen.size).toBeGreaterThan(variants.length);
});

test('every 8-bit variant with 8-bit products compiles within the limits that WebGPU guarantees', async () => {
  const seen = new Set<string>();
  for (const variant of variants.filter(({ dtype }) => dtype.startsWith('f8'))) {
    const { gradients } = variant;
    const has = (name: string): boolean => gradients === 'default' || gradients.split(' ').includes(name);
    const outputs = {
      ...{ amaxS: true, amaxO: has('dq'), amaxDQ: has('dq'), amaxDK: has('dk'), amaxDV: has('dv') },
      amaxDP: gradients === 'dq' || gradients === 'dk',
    };
    for (const kernel of kernelsOf(variant, ctx.capabilities, { fp8: {}, outputs })) {
      if (seen.has(kernel.wgsl)) continue;
      seen.add(kernel.wgsl);
      expect(await complaints(ctx, kernel), `${kernel.name} of ${nameOf(variant)}`).toEqual([]);
      expect(idleVariables(kernel), `${kernel.name} of ${nameOf(variant)}`).toEqual([]);
    }
  }
  expect(seen.size).toBeGreaterThan(10);
});

// The matrices of NVIDIA's adapters, whose subgroups have one size.
const matrix = { M: 16, N: 16, K: 16, component: 'f16' } as const;
const halved = workgroupTile({ ...defaultSizes, rows: 8, stagingDType: 'f16', arithmetic: 'f16' });
const everywhere = (shape: WorkgroupTileShape): TileSelector => {
  const tile = workgroupTile(shape);
  return () => ({ forward: tile, dq: tile, dkdv: tile });
};
const capable: Capabilities = {
  ...guaranteedCapabilities,
  features: ['shader-f16', 'subgroups'],
  ...{
    subgroupMinSize: 32,
    subgroupMaxSize: 32,
    subgroupMatrixConfigs: [matrix],
    maxComputeWorkgroupStorageSize: 49152,
  },
};

test.each([
  ['subgroups of 8', tilesOfSubgroups(8)],
  ['subgroups of 8, whose lanes hold 8 rows', tilesOfSubgroups(8, 8, 8)],
  ['subgroups of 4', tilesOfSubgroups(4)],
  ['matrices', tilesOfMatrices(matrix, 4)],
  ['operands staged in f16', everywhere({ ...defaultSizes, stagingDType: 'f16' })],
  ['8 × 8 scores a lane', everywhere({ tx: 8, ty: 8, headDimChunk: 4, rows: 8, cols: 2 })],
  [
    '4 × 8 scores a lane, with prefetch',
    everywhere({ tx: 8, ty: 16, headDimChunk: 3, cols: 2, prefetch: true }),
  ],
  ['f16 arithmetic', () => ({ forward: halved })],
  [
    'rows reduced in subgroups',
    () => ({ forward: workgroupTile({ ...defaultSizes, rowReduction: 'subgroup' }) }),
  ],
])('every text of a kernel on tiles of %s is accepted', async (_, tiles: TileSelector) => {
  const { device } = ctx;
  const seen = new Set<string>();
  for (const variant of variants) {
    const ofTable = new Set(kernelsOf(variant).map(({ wgsl }) => wgsl));
    for (const kernel of kernelsOf(variant, capable, {}, tiles)) {
      const { name, wgsl } = kernel;
      if (seen.has(wgsl) || ofTable.has(wgsl)) continue;
      seen.add(wgsl);
      // Checks the text alone, because the workgroups are made for subgroups of another size than this
      // backend's.
      device.pushErrorScope('validation');
      const { messages } = await device.createShaderModule({ code: wgsl }).getCompilationInfo();
      await device.popErrorScope();
      const errors = messages.filter(({ type }) => type === 'error').map(({ message }) => message);
      expect(errors, `${name} of ${nameOf(variant)}`).toEqual([]);
      expect(idleVariables(kernel), `${name} of ${nameOf(variant)}`).toEqual([]);
    }
  }
  expect(seen.size).toBeGreaterThan(10);
});

test('the text of a kernel that requires subgroups of 32 lanes is accepted', async () => {
  const able = { ...capable, subgroupMaxSize: 64, features: [...capable.features, 'subgroup-size-control'] };
  const half = variants.filter(({ dtype, D }) => dtype === 'f16' && Math.max(...D) <= 128);
  const pinned = half.flatMap(variant => kernelsOf(variant, able, {}, matrixTiles)).map(({ wgsl }) => wgsl);
  const text = pinned.find(wgsl => wgsl.includes('@subgroup_size(32)')) ?? '';
  const { messages } = await ctx.device.createShaderModule({ code: text }).getCompilationInfo();
  expect(text).toContain('subgroupMatrixMultiplyAccumulate');
  expect(messages.filter(({ type }) => type === 'error')).toEqual([]);
});

test('a kernel that does not compile is reported', async () => {
  const [kernel] = kernelsOf(variants[0]);
  const broken = { ...kernel, wgsl: kernel.wgsl.replace('let group =', 'let group: f32 =') };
  expect((await complaints(ctx, broken)).join()).toMatch(/f32/);
  const manyBindings = { ...broken, bindings: new Array(9).fill(kernel.bindings[0]) };
  expect((await complaints(ctx, manyBindings)).join()).toMatch(/f32/);
});

test('every pair of values of two properties of a kernel is in some variant', () => {
  for (const [a, valuesA] of Object.entries(factors)) {
    for (const [b, valuesB] of Object.entries(factors)) {
      if (a === b) continue;
      const met = new Set(variants.map(v => JSON.stringify([v[a as keyof Variant], v[b as keyof Variant]])));
      const all = (valuesA as readonly unknown[]).flatMap(x =>
        (valuesB as readonly unknown[]).map(y => JSON.stringify([x, y])),
      );
      expect(
        all.filter(pair => !met.has(pair)),
        `${a} × ${b}`,
      ).toEqual([]);
    }
  }
});
