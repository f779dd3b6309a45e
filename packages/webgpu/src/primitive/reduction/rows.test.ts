import { add, div, exp, mul, type NumericExpr, pow, sub } from '@tilewise/core/expr';
import { coordinate, input, type RowsPrimitive, reduced } from '@tilewise/core/primitive';
import { describe, expect, test } from 'vitest';
import { kernelsFor } from '../../../testing/device/as-on-a-gpu.ts';
import { expectAsOnHost, filled, numbers, runOnGpu } from '../../../testing/primitive/primitive-run.ts';
import { rowsKernels } from './rows.ts';

const sum = (element: NumericExpr, result: NumericExpr = reduced) =>
  ({ op: 'sum', element, result }) as const;

/** A norm of the rows of x0 with the weights x1; the mean is x2, and the inverse standard deviation x3. */
function norm(
  domain: readonly number[],
  axes: readonly number[],
  outputs: RowsPrimitive['outputs'],
): RowsPrimitive {
  const count = axes.reduce((n, d) => n * domain[d], 1);
  const distance = sub(input(0), input(2));
  const reductions = [
    sum(input(0), div(reduced, count)),
    sum(mul(distance, distance), pow(add(div(reduced, count), 1e-5), -0.5)),
  ];
  return { kind: 'rows', domain, axes, reductions, outputs };
}

const normal = mul(mul(sub(input(0), input(2)), input(3)), input(1));

describe.each(kernelsFor)(
  'reductions and maps of one domain on the GPU equal those on the host, by kernels %s',
  (_kernels, context) => {
    const expectSame = async (
      ...[primitive, inputs, outputs, tolerance]: Parameters<typeof expectAsOnHost>
    ) => expectAsOnHost(primitive, inputs, outputs, tolerance, await context());

    test.each([
      ['over rows', [6, 40], [1], [40]],
      ['over odd rows', [7, 39], [1], [39]],
      ['over many short rows', [300, 3], [1], [3]],
      ['over one long row', [1, 3000], [1], [3000]],
      ['over columns', [40, 70], [0], [70]],
      ['over dimensions apart', [3, 4, 5, 8], [0, 2], [8]],
      ['over everything', [4, 5, 6], [0, 1, 2], [6]],
    ] as const)('%s', async (_, domain, axes, weights) => {
      const kept = domain.map((n, d) => (axes.some(axis => axis === d) ? 1 : n));
      const inputs = [numbers(domain, 1), numbers(weights, 2)];
      await expectSame(norm(domain, axes, [normal]), inputs, [filled(domain)]);
      const results = [filled(kept), filled(domain), filled(kept)];
      await expectSame(norm(domain, axes, [1, normal, 0]), inputs, results);
    });

    test.each([
      [[20, 24], [1]],
      [[24, 20], [0]],
      [[2, 700], [1]],
    ] as const)('of which some need others: %j over %j', async (domain, axes) => {
      const kept = domain.map((n, d) => (axes.some(axis => axis === d) ? 1 : n));
      const reductions = [
        sum(input(0)),
        { op: 'max', element: input(1), result: mul(reduced, 2) } as const,
        sum(mul(input(0), input(3)), add(reduced, 1)),
        sum(mul(input(1), input(2)), add(reduced, 2)),
        sum(add(input(1), input(4))),
      ];
      const outputs = [0, 1, 2, 3, 4, mul(input(6), input(0))];
      const primitive: RowsPrimitive = { kind: 'rows', domain, axes, reductions, outputs };
      const results = outputs.map(output => filled(typeof output === 'number' ? kept : domain));
      await expectSame(
        primitive,
        [1, 2].map(n => numbers(domain, n, { scale: 0.1 })),
        results,
        1e-5,
      );
      const { capabilities } = await context();
      const [{ wgsl }] = rowsKernels(primitive, {
        ...{ inputs: results.slice(-1).concat(results.slice(-1)), outputs: results },
        ...{ unaligned: new Set<string>(), capabilities },
      }).kernels;
      expect(wgsl.split('for (var n = begin').length - 1).toBe(4);
    });

    test('of tensors of 16 bits, transposed, with gaps', async () => {
      const x = numbers([33, 12], 1, { dtype: 'bf16', offset: 1 }).permute(1, 0);
      const outputs = [filled([12, 33], { dtype: 'f16', strides: [35, 1], offset: 1 }), filled([12, 1])];
      await expectSame(norm([12, 33], [1], [normal, 0]), [x, numbers([33], 2)], outputs);
    });

    test('that read their coordinates, and several maps without a reduction', async () => {
      const inputs = [numbers([5, 70], 1), numbers([70], 2)];
      const maps: RowsPrimitive['outputs'] = [
        exp(input(0)),
        mul(input(1), coordinate(0)),
        add(input(0), coordinate(1)),
      ];
      const primitive: RowsPrimitive = {
        kind: 'rows',
        domain: [5, 70],
        axes: [],
        reductions: [],
        outputs: maps,
      };
      await expectSame(
        primitive,
        inputs,
        maps.map(() => filled([5, 70])),
      );
    });
  },
);

test('two runs give the same bits', async () => {
  const primitive = norm([40, 500], [1], [normal]);
  const inputs = [numbers([40, 500], 1), numbers([500], 2)];
  const [first] = await runOnGpu(primitive, inputs, [filled([40, 500])]);
  const [second] = await runOnGpu(primitive, inputs, [filled([40, 500])]);
  expect(first.data).toEqual(second.data);
});
