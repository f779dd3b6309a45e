import type { DType, Tensor } from '@tilewise/core';
import { add, mul } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { plainMatrices } from '../../../../../testing/matrices/plain-matrices.ts';
import { expectAsOnHost, filled, numbers, runOnGpu } from '../../../../../testing/primitive/primitive-run.ts';
import { createContext, type GpuContext } from '../../../../index.ts';
import { sideOf } from '../../operands/matrix-blocks.ts';
import { matMulTileWith, matrixMatMulKind, workgroupBytes } from './matrix-kind.ts';
import type { MatrixMatMulShape } from './shape.ts';

const { device } = await sharedContext();
const matmul = { kind: 'matmul' } as const;

/** Called for each kernel that uses tiles of matrices. */
const chosen = vi.fn(matMulTileWith);

/** A context whose products are computed by tiles of matrices that run on every device. */
const withMatrices = async (shape: MatrixMatMulShape): Promise<GpuContext> =>
  Object.assign(await createContext({ device }), {
    tileKinds: { matmulTiles: () => chosen(shape, plainMatrices(shape.matrix)) },
  });

const shape: MatrixMatMulShape = {
  ...{ kind: 'matrix', down: 2, across: 2, rows: 16, columns: 32, depth: 16 },
  matrix: { M: 16, N: 16, K: 16, component: 'f32' },
};
const shapes: readonly [name: string, shape: MatrixMatMulShape, dtypes: readonly DType[]][] = [
  ['matrices of 16 × 16 × 16', shape, ['f32', 'bf16', 'f8e4m3']],
  [
    'matrices of 8 × 8 × 8, and three subgroups',
    {
      ...{ ...shape, down: 3, across: 1, columns: 16, depth: 32 },
      matrix: { M: 8, N: 8, K: 8, component: 'f32' },
    },
    ['f32', 'f16', 'f8e5m2'],
  ],
];

describe.each(shapes)('tiles of matrices: %s', (_, own, [main, second, third]) => {
  let ctx: GpuContext;
  beforeAll(async () => {
    ctx = await withMatrices(own);
  });
  afterAll(() => ctx.destroy());
  beforeEach(() => {
    chosen.mockClear();
  });
  // Fails for a test that ran on other tiles.
  afterEach(() => expect(chosen).toHaveBeenCalled());

  const rows = (M: number, N: number, gap = 0, dtype: DType = main): Tensor =>
    numbers([M, N], M, { dtype, strides: [N + gap, 1] });
  const columns = (M: number, N: number, gap = 0, dtype: DType = main): Tensor =>
    rows(N, M, gap, dtype).permute(1, 0);

  const cases: readonly [string, a: Tensor, b: Tensor, c: Tensor][] = [
    ['whole tiles', rows(96, 64), rows(64, 96), filled([96, 96])],
    ['nothing that is a multiple of four', rows(67, 29), rows(29, 35), filled([67, 35])],
    ['B column by column', rows(40, 36), columns(36, 44), filled([40, 44])],
    ['A column by column', columns(40, 36), rows(36, 44), filled([40, 44])],
    ['both column by column, with gaps', columns(40, 36, 4), columns(36, 44, 4), filled([40, 44])],
    ['C column by column', rows(40, 36), rows(36, 44), filled([44, 40]).permute(1, 0)],
    ['a sum in parts', rows(33, 1030), rows(1030, 36), filled([33, 36])],
    ['batches across each other', batch([2, 1, 18, 8]), batch([3, 8, 20]), filled([2, 3, 18, 20])],
    ['other dtypes', rows(40, 36, 4, second), columns(36, 44, 4, third), filled([40, 44], { dtype: 'f16' })],
  ];
  function batch(of: readonly number[]): Tensor {
    return numbers(of, 5, { dtype: main });
  }

  test.each(cases)("C = A·B equals the host's: %s", async (__, a, b, c) => {
    await expectAsOnHost(matmul, [a, b], [c], 2e-6, ctx);
  });

  test("a sum of products in different layouts, with an epilogue, equals the host's", async () => {
    const operands = [rows(40, 36), columns(36, 44), columns(40, 10, 2), rows(10, 44)];
    const result = add(mul(input(6), input(4)), input(5));
    const others = [numbers([40, 1], 3), numbers([40, 44], 4)];
    await expectAsOnHost(
      { ...matmul, terms: 2, result },
      [...operands, ...others],
      [filled([40, 44])],
      2e-6,
      ctx,
    );
  });

  test('a sum of nothing is 0', async () => {
    const [c] = await runOnGpu(matmul, [filled([40, 0]), filled([0, 36])], [filled([40, 36])], ctx);
    expect(c.toFloat32().slice(0, 40 * 36)).toEqual(new Float32Array(40 * 36));
  });

  test('elements after the rows of an operand reach no result', async () => {
    const [a, b] = [rows(33, 30, 2), rows(30, 38, 2)];
    const [clean] = await runOnGpu(matmul, [a, b], [filled([33, 38])], ctx);
    a.data.set(numbers([2], 1, { dtype: main, scale: 100 }).data.slice(0, 2), 30);
    b.data.set(numbers([2], 1, { dtype: main, scale: 100 }).data.slice(0, 2), 38);
    expect(await runOnGpu(matmul, [a, b], [filled([33, 38])], ctx)).toEqual([clean]);
  });
});

test('shapes without a possible kernel break a rule', () => {
  expect(matrixMatMulKind.brokenRule(shape)).toBeNull();
  expect(matrixMatMulKind.brokenRule({ ...shape, across: 0 })).toMatch(/2 × 2 subgroups, .* got 2 × 0/);
  expect(matrixMatMulKind.brokenRule({ ...shape, down: 3 })).toMatch(/1 to 8 in a row or column, got 3 × 2/);
  expect(matrixMatMulKind.brokenRule({ ...shape, down: 9, across: 1 })).toMatch(/got 9 × 1/);
  expect(matrixMatMulKind.brokenRule({ ...shape, rows: 24 })).toMatch(/multiples of 16, got 24 × 32/);
  expect(matrixMatMulKind.brokenRule({ ...shape, depth: 8 })).toMatch(/multiples of 16, got .*depth 8/);
  const odd = { ...shape.matrix, M: 32 } as unknown as MatrixMatMulShape['matrix'];
  expect(matrixMatMulKind.brokenRule({ ...shape, matrix: odd })).toMatch(/M, N and K of 8 or 16/);
});

test.each(shapes)('the bytes of workgroup memory are those of the variables: %s', (_, own) => {
  const declared = matrixMatMulKind
    .tile(own)
    .parts.map(({ code = '' }) => code)
    .join();
  const variables = [...declared.matchAll(/array<array<vec4(f|<f16>|<f32>), (\d+)>, (\d+)>/g)];
  const bytes = variables.map(([, type, n, m]) => (type === '<f16>' ? 8 : 16) * Number(n) * Number(m));
  expect(bytes).toHaveLength(1);
  expect(workgroupBytes(own)).toBe(bytes.reduce((sum, own) => sum + own));
});

test('barriers separate what lanes store from what their subgroups load', () => {
  const [a, b] = (['M', 'N'] as const).map(extent =>
    sideOf(
      { name: extent === 'M' ? 'x0' : 'x1', dtype: 'f32', rowStride: 64, columnStride: 1, batchStrides: [] },
      extent,
      { M: 64, N: 64, K: 64 },
      new Set(),
    ),
  );
  // Two blocks of results, which go through the same memory.
  const blocks = { ...shape, rows: 32, columns: 64 };
  const { sum, results } = matrixMatMulKind.tile(blocks).backend(a, b);
  const events = (text: string): string =>
    text
      .split('\n')
      .flatMap(line => {
        if (line.includes('workgroupBarrier')) return 'barrier';
        if (/^\s*staged\[.*=/.test(line)) return 'store';
        if (line.includes('subgroupMatrixLoad')) return 'load';
        if (line.includes('subgroupMatrixStore')) return 'store';
        return line.includes('read staged[') ? 'load' : [];
      })
      .filter((event, n, all) => event !== all[n - 1])
      .join(' ');
  // In a loop: the loads of an iteration are before the first barrier of the next one.
  expect(events(sum)).toBe('barrier store barrier load');
  const stores = events(results((_row, _n, x) => `read ${x}`));
  expect(stores).toMatch(/^(barrier store barrier load ?)+$/);
  expect(stores.match(/load/g)).toHaveLength(2);
});
