import { type DType, Tensor } from '@tilewise/core';
import { add, mul } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { describe, expect, test } from 'vitest';
import { kernelsFor } from '../../../../testing/device/as-on-a-gpu.ts';
import { expectAsOnHost, filled, numbers } from '../../../../testing/primitive/primitive-run.ts';
import { type Capabilities, guaranteedCapabilities } from '../../../device/capabilities/capabilities.ts';
import { matmulKernels } from '../matmul.ts';
import { gemvTiles } from './gemv-tiles.ts';
import type { MatMulTile } from './tile.ts';

/** A matrix stored row by row, with `gap` elements after each row. */
const rows = (M: number, N: number, dtype: DType = 'f32', gap = 0): Tensor =>
  numbers([M, N], M + N, { dtype, strides: [N + gap, 1] });
const columns = (M: number, N: number, dtype: DType = 'f32', gap = 0): Tensor =>
  rows(N, M, dtype, gap).permute(1, 0);

const product = { kind: 'matmul' } as const;

describe.each(kernelsFor)('products of few rows, %s', (_, context) => {
  test.each<[string, Tensor, Tensor, Tensor]>([
    ['one row', rows(1, 256), rows(256, 132), filled([1, 132])],
    ['one row, B column by column', rows(1, 256), columns(256, 132), filled([1, 132])],
    ['rows that are not vectors', rows(3, 61), rows(61, 37), filled([3, 37])],
    ['columns that are not vectors', rows(3, 61), columns(61, 37), filled([3, 37])],
    ['a short sum', rows(2, 4), rows(4, 70), filled([2, 70])],
    ['a sum of one', rows(5, 1), rows(1, 9), filled([5, 9])],
    ['no sum', rows(2, 0), rows(0, 9), filled([2, 9])],
    ['eleven rows', rows(11, 64), columns(64, 40), filled([11, 40])],
    ['few columns', rows(90, 64), columns(64, 8), filled([90, 8])],
    ['twelve columns', rows(90, 64), columns(64, 12), filled([90, 12])],
    ['few columns of a batch', numbers([3, 30, 20], 1), rows(20, 5), filled([3, 30, 5])],
    ['few columns, A column by column', columns(68, 44), rows(44, 7, 'bf16'), filled([68, 7])],
    ['twelve rows, A column by column', columns(12, 68), rows(68, 40), filled([12, 40])],
    ['five rows, A column by column', columns(5, 68), rows(68, 40), filled([5, 40])],
    ['eight rows, A column by column', columns(8, 68), columns(68, 40), filled([8, 40])],
    ['C column by column', rows(40, 68), columns(68, 7), filled([7, 40]).permute(1, 0)],
    [
      'rows with gaps',
      rows(4, 64, 'f32', 3),
      columns(64, 36, 'f32', 5),
      filled([4, 36], { strides: [39, 1] }),
    ],
    ['16 and 8 bits', rows(6, 72, 'bf16'), columns(72, 44, 'f8e4m3'), filled([6, 44], { dtype: 'f16' })],
    ['a long sum of few columns, in parts', rows(1, 4100), columns(4100, 12), filled([1, 12])],
    ['a batch across another', numbers([2, 1, 3, 40], 1), numbers([5, 40, 20], 2), filled([2, 5, 3, 20])],
  ])('%s', async (_name, a, b, c) => {
    await expectAsOnHost(product, [a, b], [c], 2e-6, await context());
  });

  test('sums of products with an epilogue', async () => {
    const result = add(mul(input(5), 2), input(4));
    const operands = [rows(3, 36), columns(36, 28), rows(3, 10), rows(10, 28), numbers([28], 3)];
    const primitive = { ...product, terms: 2, result };
    await expectAsOnHost(primitive, operands, [filled([3, 28])], 2e-6, await context());
  });
});

test('tiles have the rows of the product, and other products have other tiles', () => {
  const other = { M: 64 } as MatMulTile;
  const cpu = { ...guaranteedCapabilities, adapter: 'mesa software' };
  const heightOf = (M: number, N: number, capabilities = guaranteedCapabilities): number | undefined =>
    gemvTiles(() => other)({ M, N, K: 64, count: 1 }, [], capabilities, other)?.M;
  expect([1, 3, 8].map(M => heightOf(M, 1024))).toEqual([1, 3, 8]);
  expect([9, 16].map(M => heightOf(M, 1024))).toEqual([8, 8]);
  expect([8, 9].map(M => heightOf(M, 1024, cpu))).toEqual([8, 64]);
  expect(heightOf(17, 17)).toBe(64);
  const size = { M: 64, N: 64, K: 64, count: 1 };
  expect(gemvTiles()(size, [], guaranteedCapabilities, other)).toBeNull();
});

test('on Intel, lanes with many sums are in the smallest subgroups, if kernels may choose their size', () => {
  const intel = {
    ...guaranteedCapabilities,
    ...{ adapter: 'intel gen-12lp', subgroupMinSize: 8, subgroupMaxSize: 32 },
    features: ['subgroup-size-control'],
  };
  const a = Tensor.zeros([1024, 1024]);
  const isAsked = (capabilities: Capabilities, rowsOfA = 1024): boolean => {
    const inputs = [rowsOfA === 1024 ? a : Tensor.zeros([rowsOfA, 1024]), a];
    const outputs = [Tensor.zeros([rowsOfA, 1024])];
    const tensors = { inputs, outputs, unaligned: new Set<string>(), capabilities };
    return matmulKernels(product, tensors, gemvTiles()).kernels[0].wgsl.includes('@subgroup_size(8)');
  };
  expect(isAsked(intel)).toBe(true);
  // The smaller tile has 16 sums per lane.
  expect(isAsked(intel, 64)).toBe(false);
  expect(isAsked({ ...intel, features: [] })).toBe(false);
  expect(isAsked({ ...intel, adapter: 'amd rdna-3' })).toBe(false);
});

test('the kernel for one row equals the file in wgsl', async () => {
  const inputs = [Tensor.zeros([1, 768]), Tensor.zeros([768, 768])];
  const tensors = { inputs, outputs: [Tensor.zeros([1, 768])], unaligned: new Set<string>() };
  const capabilities = guaranteedCapabilities;
  const { kernels } = matmulKernels(product, { ...tensors, capabilities }, gemvTiles());
  await expect(kernels[0].wgsl).toMatchFileSnapshot('../../../../wgsl/matmul-one-row.wgsl');
});
