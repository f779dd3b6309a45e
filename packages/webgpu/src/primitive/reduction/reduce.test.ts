import { add, div, exp, ge, mul, select, sqrt } from '@tilewise/core/expr';
import { coordinate, input, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import { describe, expect, test } from 'vitest';
import { kernelsFor } from '../../../testing/device/as-on-a-gpu.ts';
import { expectAsOnHost, filled, numbers, runOnGpu } from '../../../testing/primitive/primitive-run.ts';
import { guaranteedCapabilities } from '../../device/capabilities/capabilities.ts';
import { reduceKernels } from './reduce.ts';

function reduction(
  domain: readonly number[],
  axes: readonly number[],
  options: Partial<ReducePrimitive> = {},
): ReducePrimitive {
  // All terms are positive, so the rounding error is at most the depth of slices and tree, about 30, times
  // 2^-24 of the sum.
  const element = add(input(0), 1.5);
  return { kind: 'reduce', op: 'sum', domain, axes, element, result: reduced, ...options };
}

const keptShape = (domain: readonly number[], axes: readonly number[]): number[] =>
  domain.map((n, d) => (axes.includes(d) ? 1 : n));

describe.each(kernelsFor)(
  'a reduction on the GPU equals the reduction on the host, by kernels %s',
  (_kernels, context) => {
    const expectSame = async (
      ...[primitive, inputs, outputs, tolerance]: Parameters<typeof expectAsOnHost>
    ) => expectAsOnHost(primitive, inputs, outputs, tolerance, await context());

    test.each([
      ['over rows', [6, 40], [1]],
      ['over odd rows', [6, 39], [1]],
      ['over columns', [40, 70], [0]],
      ['over rows of one', [9, 1], [1]],
      ['over everything', [4, 5, 6], [0, 1, 2]],
      ['over dimensions apart', [3, 4, 5, 8], [0, 2]],
      ['over nothing', [3, 0], [1]],
      ['over no rows', [0, 40_000], [1]],
      ['over few long rows', [2, 40_000], [1]],
      ['over few long columns', [30_001, 3], [0]],
    ] as const)('%s', async (_, domain, axes) => {
      for (const op of ['sum', 'max'] as const) {
        const primitive = reduction(domain, axes, { op });
        await expectSame(primitive, [numbers(domain, 1)], [filled(keptShape(domain, axes))]);
      }
    });

    test.each([
      ['integers', select(ge(input(0), 0), coordinate(1), 40)],
      ['truths', ge(input(0), 0)],
    ] as const)('of %s, which are read four at a time', async (_, element) => {
      for (const op of ['sum', 'min'] as const) {
        const primitive = reduction([6, 40], [1], { op, element });
        await expectSame(primitive, [numbers([6, 40], 1)], [filled([6, 1], { dtype: 'i32' })]);
      }
    });

    test('of several tensors that are broadcast, with functions around it', async () => {
      const primitive = reduction([5, 3, 24], [2], {
        element: mul(exp(input(0)), input(1)),
        result: sqrt(add(mul(reduced, reduced), 1)),
      });
      const inputs = [numbers([5, 3, 24], 1), numbers([3, 1], 2)];
      await expectSame(primitive, inputs, [filled([5, 3, 1])]);
    });

    test('that reads its coordinates', async () => {
      const element = select(ge(coordinate(1), coordinate(2)), mul(input(0), coordinate(0)), 0);
      const primitive = reduction([3, 6, 8], [0, 2], { element });
      await expectSame(primitive, [numbers([3, 6, 8], 1)], [filled([1, 6, 1])]);
    });

    test.each(['min', 'prod'] as const)('%s', async op => {
      const primitive = reduction([7, 12], [1], { op, element: input(0) });
      await expectSame(primitive, [numbers([7, 12], 1, { scale: 2 })], [filled([7, 1])]);
    });

    test('of transposed and 16-bit tensors, to small dtypes with gaps', async () => {
      const primitive = reduction([12, 33], [1], { result: div(reduced, 33) });
      const a = numbers([33, 12], 1, { dtype: 'bf16', offset: 1 }).permute(1, 0);
      await expectSame(primitive, [a], [filled([12, 1], { dtype: 'f16', strides: [3, 1], offset: 1 })]);
      await expectSame(primitive, [a], [filled([12, 1], { dtype: 'u8' })]);
    });
  },
);

test('two runs of a reduction in parts give the same bits', async () => {
  const primitive = reduction([1, 100_000], [1]);
  const a = numbers([1, 100_000], 1);
  const [first, second] = [
    await runOnGpu(primitive, [a], [filled([1, 1])]),
    await runOnGpu(primitive, [a], [filled([1, 1])]),
  ];
  expect(first[0].data).toEqual(second[0].data);
});

test('neighbouring invocations read neighbouring elements, and few long rows have many workgroups', () => {
  const kernelsOver = (domain: readonly number[], axes: readonly number[]) => {
    const strides = [domain[1], 1];
    const tensors = {
      inputs: [{ dtype: 'f32', shape: domain, strides }],
      outputs: [{ dtype: 'f32', shape: keptShape(domain, axes), strides: [1, 1] }],
      ...{ unaligned: new Set<string>(), capabilities: guaranteedCapabilities },
    } as const;
    return reduceKernels(reduction(domain, axes), tensors).kernels;
  };
  expect(kernelsOver([4096, 1024], [1])[0].wgsl).toContain('let slice = lane % 256u');
  expect(kernelsOver([4096, 1024], [0])[0].wgsl).toContain('let column = lane % 64u');
  const [parts, join] = kernelsOver([1, 2 ** 20], [1]);
  expect(parts.groups).toBeGreaterThan(16);
  expect(join.groups).toBe(1);
});
