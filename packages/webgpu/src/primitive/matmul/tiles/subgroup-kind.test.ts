import type { DType, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { expectAsOnHost, filled, numbers, runOnGpu } from '../../../../testing/primitive/primitive-run.ts';
import { createContext, type GpuContext, guaranteedCapabilities } from '../../../index.ts';
import { matmulKernels } from '../matmul.ts';
import { subgroupMatMulKind } from './subgroup-kind.ts';
import { workgroupMatMulKind } from './workgroup-kind.ts';

const matmul = { kind: 'matmul' } as const;

/**
 * A context on the tests' device that uses these tiles, as lavapipe does by default; null if there are no
 * subgroups.
 */
async function broadcasting(): Promise<GpuContext | null> {
  const { device, capabilities } = await sharedContext();
  if (capabilities.subgroupMinSize < 4) return null;
  const ctx = await createContext({ device });
  return Object.assign(ctx, { capabilities: { ...capabilities, adapter: 'mesa software' } });
}

/** A matrix stored row by row, with `gap` elements after each row. */
const rows = (M: number, N: number, gap = 0, dtype: DType = 'f32'): Tensor =>
  numbers([M, N], M, { dtype, strides: [N + gap, 1] });
const columns = (M: number, N: number, gap = 0, dtype: DType = 'f32'): Tensor =>
  rows(N, M, gap, dtype).permute(1, 0);

const [M, N, K] = [40, 44, 36];
const cases: readonly [string, a: Tensor, b: Tensor, c: Tensor][] = [
  ['whole tiles', rows(64, 32), rows(32, 48), filled([64, 48])],
  ['nothing that is a multiple of four', rows(67, 29), rows(29, 35), filled([67, 35])],
  ['B column by column', rows(M, K), columns(K, N), filled([M, N])],
  ['A column by column', columns(M, K), rows(K, N), filled([M, N])],
  ['C column by column', rows(M, K), rows(K, N), filled([N, M]).permute(1, 0)],
  ['rows that end in the middle of a vector', rows(33, 30, 2), rows(30, 38, 2), filled([33, 38])],
  ['a sum in parts', rows(33, 1030), rows(1030, 36), filled([33, 36])],
  ['batches across each other', numbers([2, 1, 18, 8], 1), numbers([3, 8, 20], 2), filled([2, 3, 18, 20])],
  [
    'storage in 16 and in 8 bits',
    rows(M, K, 4, 'bf16'),
    columns(K, N, 4, 'f8e4m3'),
    filled([M, N], { dtype: 'f16' }),
  ],
];

test.each(cases)("C = A·B equals the host's: %s", async (_, a, b, c) => {
  const ctx = await broadcasting();
  if (!ctx) return;
  await expectAsOnHost(matmul, [a, b], [c], 2e-6, ctx);
  ctx.destroy();
});

test("a sum of products of different inner dimensions equals the host's", async () => {
  const ctx = await broadcasting();
  if (!ctx) return;
  const operands = [rows(M, K), columns(K, N), rows(M, 10, 2), rows(10, N)];
  await expectAsOnHost({ ...matmul, terms: 2 }, operands, [filled([M, N])], 2e-6, ctx);
  ctx.destroy();
});

test('elements after the rows of an operand are not read', async () => {
  const ctx = await broadcasting();
  if (!ctx) return;
  const [a, b] = [rows(33, 30, 2), rows(30, 38, 2)];
  const [clean] = await runOnGpu(matmul, [a, b], [filled([33, 38])], ctx);
  a.data[30] = b.data[38] = Number.NaN;
  expect(await runOnGpu(matmul, [a, b], [filled([33, 38])], ctx)).toEqual([clean]);
  ctx.destroy();
});

test.each([
  ['mesa software', 8, true],
  ['mesa software', 4, true],
  ['mesa software', 0, false],
  ['nvidia ampere', 32, false],
])('on %s with subgroups of %i or more: %s', (adapter, subgroupMinSize, is) => {
  const kernels = (M: number, N: number) =>
    matmulKernels(
      { kind: 'matmul' },
      {
        ...{ inputs: [rows(M, K), rows(K, N)], outputs: [rows(M, N)], unaligned: new Set<string>() },
        capabilities: { ...guaranteedCapabilities, adapter, subgroupMinSize },
      },
    ).kernels;
  expect(kernels(M, N)[0].wgsl.includes('subgroupBroadcast')).toBe(is);
  // Few rows or few columns leave most of such a tile unused, which still is faster than smaller tiles.
  expect(kernels(16, N)[0].wgsl.includes('subgroupBroadcast')).toBe(is);
  expect(kernels(M, 16)[0].wgsl.includes('subgroupBroadcast')).toBe(is);
});

test('shapes without a possible kernel break a rule', () => {
  const subgroup = { kind: 'subgroup', lanes: 8, columns: 4, group: 8 } as const;
  expect(subgroupMatMulKind.brokenRule(subgroup)).toBeNull();
  expect(subgroupMatMulKind.brokenRule({ ...subgroup, lanes: 6 })).toMatch(/multiples of 8 lanes/);
  expect(subgroupMatMulKind.brokenRule({ ...subgroup, columns: 3 })).toMatch(/and of 2 columns/);
  const workgroup = { tx: 8, ty: 8, rows: 2, columns: 2, depth: 16 };
  expect(workgroupMatMulKind.brokenRule(workgroup)).toBeNull();
  expect(workgroupMatMulKind.brokenRule({ ...workgroup, depth: 6 })).toMatch(/multiple of 4, got 6/);
  expect(workgroupMatMulKind.brokenRule({ ...workgroup, tx: 0 })).toMatch(/whole numbers of lanes/);
});
