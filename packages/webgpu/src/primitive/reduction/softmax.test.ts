import { Tensor } from '@tilewise/core';
import type { SoftmaxPrimitive } from '@tilewise/core/primitive';
import { describe, test } from 'vitest';
import { kernelsFor } from '../../../testing/device/as-on-a-gpu.ts';
import { expectAsOnHost, filled, numbers } from '../../../testing/primitive/primitive-run.ts';

function softmax(axis: number, options: Partial<SoftmaxPrimitive> = {}): SoftmaxPrimitive {
  return { kind: 'softmax', axis, log: false, mode: 'inf-as-zero', ...options };
}

describe.each(kernelsFor)(
  'softmax on the GPU equals softmax on the host, by kernels %s',
  (_kernels, context) => {
    const expectSame = async (
      ...[primitive, inputs, outputs, tolerance]: Parameters<typeof expectAsOnHost>
    ) => expectAsOnHost(primitive, inputs, outputs, tolerance, await context());

    test.each([
      ['of rows', [5, 40], 1],
      ['of odd rows', [3, 2, 37], 2],
      ['of many short rows', [700, 3], 1],
      ['of long rows', [2, 5000], 1],
      ['of rows of one', [4, 1], 1],
      ['of columns', [30, 20], 0],
      ['along a dimension within', [3, 11, 4], 1],
      ['of no rows', [0, 4], 1],
    ] as const)('%s, its logarithm, and stats', async (_, shape, axis) => {
      const stats = shape.map((n, d) => (d === axis ? 1 : n));
      for (const log of [false, true]) {
        const outputs = [filled(shape), filled(stats)];
        // e^x is accurate to a few units in the last place: for differences of up to 40, the error is below
        // 2^-21 of the result.
        await expectSame(softmax(axis, { log }), [numbers(shape, 1, { scale: 20 })], outputs, 4e-6);
      }
    });

    test('of bf16 with gaps to f16 with gaps', async () => {
      const source = numbers([6, 10], 1, { dtype: 'bf16', strides: [13, 1], offset: 1, scale: 3 });
      const output = filled([6, 10], { dtype: 'f16', strides: [11, 1], offset: 3 });
      await expectSame(softmax(1), [source], [output, filled([6, 1], { dtype: 'bf16', strides: [2, 1] })]);
      await expectSame(softmax(1), [numbers([3, 8], 2)], [filled([3, 8], { dtype: 'bf16' })]);
    });

    test('of a transposed tensor', async () => {
      await expectSame(softmax(1), [numbers([40, 6], 1).permute(1, 0)], [filled([6, 40])]);
    });

    test('of rows with the lowest finite number, by which models mask', async () => {
      const [inf, low] = [-Infinity, -3.4028234663852886e38];
      const rows = Tensor.from([low, low, low, low, low, inf, low, inf, 1, low, 2, low], [3, 4]);
      for (const log of [false, true]) {
        for (const source of [rows, rows.slice(1, 0, 3)]) {
          const outputs = [filled(source.shape), filled([3, 1])];
          await expectSame(softmax(1, { log }), [source], outputs);
        }
      }
    });

    test('of rows with −∞, and of rows with only −∞', async () => {
      const inf = -Infinity;
      const rows = Tensor.from([1, inf, 2, 0, inf, inf, inf, inf, inf, 3, inf, inf], [3, 4]);
      for (const log of [false, true]) {
        for (const mode of ['inf-as-zero', 'none'] as const) {
          await expectSame(softmax(1, { log, mode }), [rows], [filled([3, 4]), filled([3, 1])]);
        }
      }
    });
  },
);
