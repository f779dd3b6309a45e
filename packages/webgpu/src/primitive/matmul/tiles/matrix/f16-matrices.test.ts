import type { DType } from '@tilewise/core';
import { expect, test, vi } from 'vitest';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { plainMatrices } from '../../../../../testing/matrices/plain-matrices.ts';
import { expectAsOnHost, filled, numbers } from '../../../../../testing/primitive/primitive-run.ts';
import { createContext } from '../../../../index.ts';
import { matMulTileWith } from './matrix-kind.ts';
import type { MatrixMatMulShape } from './shape.ts';

const { device, capabilities } = await sharedContext();

// Small, because an adapter may take seconds to compile the matrix operations.
const shape: MatrixMatMulShape = {
  ...{ kind: 'matrix', down: 1, across: 2, rows: 16, columns: 16, depth: 16 },
  matrix: { M: 16, N: 16, K: 16, component: 'f16' },
};

test
  .skipIf(!capabilities.features.includes('shader-f16'))
  .each<[string, DType, DType, M: number, K: number]>([
    ['f16 by vectors', 'f16', 'f16', 20, 36],
    ['f16 element by element', 'f16', 'f16', 19, 29],
    ['8 bits', 'f8e4m3', 'f8e5m2', 20, 36],
  ])('operands staged in f16 are multiplied without a conversion: %s', async (_, a, b, M, K) => {
  const matmulTiles = vi.fn(() => matMulTileWith(shape, plainMatrices(shape.matrix)));
  const ctx = Object.assign(await createContext({ device }), { tileKinds: { matmulTiles } });
  const operands = [numbers([M, K], 1, { dtype: a }), numbers([M, K], 2, { dtype: b }).permute(1, 0)];
  await expectAsOnHost({ kind: 'matmul' }, operands, [filled([M, M])], 2e-6, ctx);
  expect(matmulTiles).toHaveBeenCalled();
  ctx.destroy();
});
