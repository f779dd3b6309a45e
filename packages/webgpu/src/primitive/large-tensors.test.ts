import { Tensor } from '@tilewise/core';
import { add, div, mul, pow, sub } from '@tilewise/core/expr';
import { coordinate, input, inputAt, type Primitive, reduced } from '@tilewise/core/primitive';
import { describe, expect, test } from 'vitest';
import { boundSizes, limitedContext } from '../../testing/device/limited-context.ts';
import { expectAsOnHost, filled, numbers } from '../../testing/primitive/primitive-run.ts';
import { webgpuEngine } from '../api/engine/webgpu-engine.ts';

/** Row numbers, (count, 1). */
const rowNumbers = (count: number, rows: number): Tensor =>
  Tensor.from(
    Array.from({ length: count }, (_, n) => (n * n * 7 + 3 * n) % rows),
    [count, 1],
    { dtype: 'i32' },
  );

/** Expects the results of the host on a device that binds at most so many bytes of a buffer. */
async function expectWithin(
  limit: number,
  primitive: Primitive,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
): Promise<void> {
  const ctx = await limitedContext(limit);
  const largest = Math.max(...[...inputs, ...outputs].map(({ data }) => data.byteLength));
  expect(largest).toBeGreaterThan(limit);
  const sizes = await boundSizes(ctx, () => expectAsOnHost(primitive, inputs, outputs, 2e-6, ctx));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
  ctx.destroy();
}

describe('a tensor larger than a binding is read in segments', () => {
  const picked = inputAt(0, [input(1, 'i32'), coordinate(1)]);

  test.each([
    ['f32', 12288],
    ['f16', 6144],
    ['bf16', 6144],
    ['f8e4m3', 3072],
  ] as const)('a table of rows in %s', async (dtype, limit) => {
    const value = { kind: 'map', value: mul(picked, 2) } as const;
    const rows = rowNumbers(40, 300);
    await expectWithin(limit, value, [numbers([300, 24], 1, { dtype }), rows], [filled([40, 24])]);
    // An odd start within the buffer.
    const table = numbers([300, 23], 1, { dtype, offset: 3 });
    await expectWithin(limit, value, [table, rows], [filled([40, 23])]);
  });

  test('a table of integers', async () => {
    const value = { kind: 'map', value: inputAt(0, [input(1, 'i32'), coordinate(1)], 'i32') } as const;
    const table = numbers([300, 24], 1, { dtype: 'i32', scale: 1000 });
    await expectWithin(12288, value, [table, rowNumbers(40, 300)], [filled([40, 24], { dtype: 'i32' })]);
  });

  test('a table whose rows are normalised', async () => {
    const sum = { op: 'sum', element: mul(picked, picked), result: pow(div(reduced, 24), -0.5) } as const;
    const norm = { kind: 'rows', domain: [40, 24], axes: [1], reductions: [sum] } as const;
    const primitive = { ...norm, outputs: [mul(picked, input(2))] };
    await expectWithin(12288, primitive, [numbers([300, 24], 1), rowNumbers(40, 300)], [filled([40, 24])]);
  });

  test.each([
    ['f32', 16384],
    ['bf16', 8192],
  ] as const)('a matrix in %s', async (dtype, limit) => {
    const product = { kind: 'matmul' } as const;
    const weights = numbers([400, 24], 1, { dtype });
    const x = numbers([3, 24], 2);
    await expectWithin(limit, product, [x, weights.permute(1, 0)], [filled([3, 400])]);
    await expectWithin(limit, product, [numbers([3, 400], 2), weights], [filled([3, 24])]);
    await expectWithin(
      limit,
      product,
      [numbers([3, 400], 2), numbers([400, 23], 1, { dtype })],
      [filled([3, 23])],
    );
    await expectWithin(limit, product, [weights, numbers([24, 2], 2)], [filled([400, 2])]);
  });

  test('a matrix that is transposed', async () => {
    const transposed = { kind: 'map', value: add(input(0), input(1)) } as const;
    const inputs = [numbers([90, 70], 1).permute(1, 0), numbers([90], 2)];
    await expectWithin(16384, transposed, inputs, [filled([70, 90])]);
    await expectWithin(16384, transposed, inputs, [filled([70, 90], { dtype: 'f16', strides: [93, 1] })]);
    const batch = [numbers([5, 30, 40], 1).permute(0, 2, 1), numbers([30], 2)];
    await expectWithin(8192, transposed, batch, [filled([5, 40, 30])]);
  });

  test('a tensor that takes too many segments is refused', async () => {
    const ctx = await limitedContext(4096);
    const { primitives } = webgpuEngine(ctx);
    const inputs = [numbers([300, 24], 1), rowNumbers(40, 300)];
    const { reasons } = primitives.checkSupport({ kind: 'map', value: picked }, inputs, [filled([40, 24])]);
    expect(reasons).toEqual([
      "a workgroup of 'map' needs more of x0 at once than maxStorageBufferBindingSize of this device, 4096 bytes",
    ]);
    ctx.destroy();
  });
});

describe('a result larger than a binding is computed by several dispatches', () => {
  const scaled = { kind: 'map', value: add(mul(input(0), 0.5), input(1)) } as const;

  test('of a map', async () => {
    await expectWithin(4096, scaled, [numbers([6001], 1), numbers([6001], 2)], [filled([6001])]);
    await expectWithin(4096, scaled, [numbers([70, 61], 1), numbers([61], 2)], [filled([70, 61])]);
    const half = filled([61, 70], { dtype: 'f16', strides: [73, 1], offset: 1 });
    await expectWithin(4096, scaled, [numbers([61, 70], 1), numbers([61, 1], 2)], [half]);
  });

  test('of a map that also reads elsewhere', async () => {
    const value = add(input(0), inputAt(1, [sub(coordinate(0), 900)]));
    const table = numbers([900], 2);
    await expectWithin(4096, { kind: 'map', value }, [numbers([3000], 1), table], [filled([3000])]);
  });

  test.each([
    ['few columns', [4000, 4], [4, 7]],
    ['few rows and much longer columns of B', [3, 16], [1900, 16]],
    ['few columns and many rows of A', [2000, 16], [16, 2]],
    ['few rows of a batch', [2, 2, 16], [2, 1000, 16]],
  ] as const)('of a product of %s', async (_, a, b) => {
    const isAcross = a[a.length - 1] === b[b.length - 1];
    const order = b.map((_, d) => (d < b.length - 2 ? d : 2 * b.length - 3 - d));
    const B = isAcross ? numbers(b, 2).permute(...order) : numbers(b, 2);
    const C = filled([...a.slice(0, -1), ...B.shape.slice(-1)]);
    await expectWithin(16384, { kind: 'matmul' }, [numbers(a, 1), B], [C]);
    const primitive = { kind: 'matmul', result: add(input(3), input(2)) } as const;
    const bias = numbers(C.shape.slice(-1), 3);
    await expectWithin(16384, primitive, [numbers(a, 1), B, bias], [C]);
  });

  test('of a norm', async () => {
    const sum = { op: 'sum', element: mul(input(0), input(0)), result: div(reduced, 96) } as const;
    const primitive = { kind: 'rows', domain: [70, 96], axes: [1], reductions: [sum] } as const;
    const outputs = [0, div(input(0), add(input(1), 1))];
    await expectWithin(
      8192,
      { ...primitive, outputs },
      [numbers([70, 96], 1)],
      [filled([70, 1]), filled([70, 96])],
    );
  });

  test('of a sum over few columns', async () => {
    const sum = { kind: 'reduce', op: 'sum', axes: [1], domain: [900, 5] } as const;
    const primitive = { ...sum, element: input(0), result: reduced };
    await expectWithin(8192, primitive, [numbers([900, 5], 1)], [filled([900, 1])]);
  });

  test('of a softmax', async () => {
    const primitive = { kind: 'softmax', axis: 1, log: false, mode: 'none' } as const;
    await expectWithin(8192, primitive, [numbers([70, 96], 1)], [filled([70, 96]), filled([70, 1])]);
  });

  test('of added rows', async () => {
    const rows = rowNumbers(40, 300).reshape([40]);
    await expectWithin(8192, { kind: 'scatter-add' }, [rows, numbers([40, 24], 1)], [filled([300, 24])]);
  });
});
