import { Tensor } from '@tilewise/core';
import {
  add,
  and,
  constant,
  erf,
  exp,
  floorDiv,
  ge,
  log,
  mul,
  pow,
  select,
  tanh,
  toF32,
} from '@tilewise/core/expr';
import { coordinate, input, inputAt, type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import { describe, expect, test } from 'vitest';
import { callersDevice } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { expectAsOnHost, filled, numbers, runOnGpu } from '../../../testing/primitive/primitive-run.ts';
import { webgpuEngine } from '../../api/engine/webgpu-engine.ts';
import { guaranteedCapabilities } from '../../device/capabilities/capabilities.ts';
import { createContext } from '../../runtime/create-context.ts';
import { mapKernels } from './map.ts';

const map = (value: Parameters<typeof mapKernels>[0]['value']) => ({ kind: 'map', value }) as const;
const scaled = map(add(mul(input(0), 0.5), input(1)));

describe('a map on the GPU equals the map on the host', () => {
  test.each([
    ['of whole vectors', [8, 12], [8, 12]],
    ['of rows that are not vectors', [5, 7], [5, 7]],
    ['with a row that is broadcast', [5, 8], [8]],
    ['with a column that is broadcast', [5, 8], [5, 1]],
    ['with a number', [3, 5], []],
    ['of a number', [], []],
    ['of nothing', [0, 4], [4]],
    ['of five dimensions', [2, 3, 2, 2, 4], [3, 1, 2, 1]],
  ] as const)('%s', async (_, shape, other) => {
    await expectAsOnHost(scaled, [numbers(shape, 1), numbers(other, 2)], [filled(shape)]);
  });

  test('of tensors that start at any element', async () => {
    const a = numbers([6, 8], 1, { offset: 3 });
    await expectAsOnHost(scaled, [a, numbers([8], 2, { offset: 1 })], [filled([6, 8], { offset: 2 })]);
  });

  test.each(['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2', 'i32', 'u32', 'i8', 'u8', 'bool'] as const)(
    'to %s, dense, with odd rows and gaps, rounded and saturated',
    async dtype => {
      const value = map(mul(input(0), dtype === 'bool' ? 1 : 3));
      const scale = { i8: 100, u8: 150, f8e4m3: 200 }[dtype as string] ?? 8;
      await expectAsOnHost(value, [numbers([6, 8], 1, { scale })], [filled([6, 8], { dtype })]);
      await expectAsOnHost(value, [numbers([7], 1, { scale })], [filled([5, 7], { dtype })]);
      await expectAsOnHost(
        value,
        [numbers([4, 3], 1, { scale })],
        [filled([4, 3], { dtype, strides: [5, 1], offset: 1 })],
      );
    },
  );

  test.each(['f16', 'bf16', 'f8e4m3', 'f8e5m2', 'i32', 'u32', 'i8', 'u8'] as const)(
    'from %s, also at odd offsets',
    async dtype => {
      const whole = dtype === 'i32' || dtype === 'u32' || dtype === 'i8' || dtype === 'u8';
      const value = map(mul(toF32(input(0, whole ? 'i32' : 'f32')), 0.5));
      const scale = dtype.startsWith('u') ? 0 : 100;
      await expectAsOnHost(value, [numbers([3, 8], 1, { dtype, scale })], [filled([3, 8])]);
      await expectAsOnHost(value, [numbers([3, 5], 1, { dtype, scale, offset: 1 })], [filled([3, 5])]);
    },
  );

  test('of transposed tensors, on either side', async () => {
    const a = numbers([6, 20], 1).permute(1, 0);
    await expectAsOnHost(map(input(0)), [a], [filled([20, 6])]);
    await expectAsOnHost(map(input(0)), [numbers([20, 6], 2)], [filled([20, 6], { strides: [1, 20] })]);
  });

  test('of tensors that are read across their rows, through tiles', async () => {
    const a = numbers([70, 3, 40], 1).permute(2, 1, 0);
    const column = numbers([40, 1, 1], 2);
    for (const dtype of ['f32', 'bf16', 'u8'] as const) {
      await expectAsOnHost(scaled, [a, column], [filled([40, 3, 70], { dtype })]);
      await expectAsOnHost(scaled, [a, column], [filled([40, 3, 70], { dtype, strides: [237, 79, 1] })]);
    }
    const half = numbers([33, 64], 1, { dtype: 'f16' }).permute(1, 0);
    await expectAsOnHost(map(add(input(0), coordinate(1))), [half], [filled([64, 33])]);
    await expectAsOnHost(
      map(input(0)),
      [numbers([64, 36], 3, { offset: 1 }).permute(1, 0)],
      [filled([36, 64])],
    );
  });

  test('that reads its coordinates, and elements at clamped other coordinates', async () => {
    const value = add(
      inputAt(0, [floorDiv(coordinate(0), 2), add(coordinate(2), 1)]),
      mul(100, coordinate(1)),
    );
    await expectAsOnHost(map(value), [numbers([3, 4], 1)], [filled([5, 2, 4])]);
    const strided = filled([5, 2, 4], { strides: [1, 5, 10] });
    await expectAsOnHost(map(add(value, input(1))), [numbers([3, 4], 1), numbers([2, 1], 2)], [strided]);
  });

  test('that reads no tensor', async () => {
    await expectAsOnHost(map(toF32(coordinate(1))), [], [filled([3, 5])]);
  });

  test('that reads a tensor at several indices', async () => {
    const value = add(input(0), inputAt(0, [add(coordinate(0), 1)]));
    await expectAsOnHost(map(value), [numbers([16], 1)], [filled([16])]);
  });

  test('of booleans and functions', async () => {
    const mask = Tensor.from([1, 0, 1, 1, 0, 0, 1, 0], [8], { dtype: 'bool' });
    const value = select(and(input(0, 'bool'), ge(input(1), 0)), tanh(input(1)), erf(exp(input(1))));
    await expectAsOnHost(map(value), [mask, numbers([3, 8], 1)], [filled([3, 8])]);
    await expectAsOnHost(map(ge(input(0), 0)), [numbers([3, 8], 1)], [filled([3, 8], { dtype: 'bool' })]);
    await expectAsOnHost(map(constant(2)), [], [filled([9], { dtype: 'u8' })]);
  });
});

test('a copy keeps all bits, those of infinities and NaN too', async () => {
  const values = [Infinity, -Infinity, NaN, 0, 1, -2, 3, 4];
  const [out] = await runOnGpu(map(input(0)), [Tensor.from(values, [8])], [filled([8])]);
  expect([...out.toFloat64()].slice(0, 8)).toEqual(values);
});

test('transposes go through tiles, views of rows do not', () => {
  const nameOf = (strides: readonly number[]): string => {
    const source = { dtype: 'f32', shape: [64, 48], strides } as const;
    const output = { dtype: 'f32', shape: [64, 48], strides: [48, 1] } as const;
    const tensors = { inputs: [source], outputs: [output], unaligned: new Set<string>() };
    return mapKernels(map(input(0)), { ...tensors, capabilities: guaranteedCapabilities }).kernels[0].name;
  };
  expect(nameOf([1, 64])).toBe('transposing map');
  expect(nameOf([52, 1])).toBe('map');
  expect(nameOf([0, 1])).toBe('map');
});

test('the logarithm is −∞ of 0 and NaN of negative numbers', async () => {
  const [out] = await runOnGpu(map(log(input(0))), [Tensor.from([0, -0, -1, -1e30], [4])], [filled([4])]);
  expect([...out.toFloat64()].slice(0, 4)).toEqual([-Infinity, -Infinity, NaN, NaN]);
});

test('a power of a negative number is NaN unless the exponent is an integer', async () => {
  const bases = Tensor.from([-2, -2, -2, -2, -2, -3, 4, 0], [8]);
  const exponents = Tensor.from([3, 2, -1, 0.5, -2.5, 0, 0.5, 0.5], [8]);
  const [out] = await runOnGpu(map(pow(input(0), input(1))), [bases, exponents], [filled([8])]);
  const rounded = [...out.toFloat64()].slice(0, 8).map(x => Math.round(x * 1e4) / 1e4);
  expect(rounded).toEqual([-8, 4, -0.5, NaN, NaN, 1, 2, 0]);
});

test('more tensors than a device binds are gathered first', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const names = Array.from({ length: ctx.capabilities.maxStorageBuffersPerShaderStage + 2 }, (_, n) => n);
  const value = names.slice(1).reduce((sum, n) => add(sum, mul(n + 1, input(n))), add(input(0), 0));
  const inputs = names.map(n => numbers(n % 2 ? [8] : [6, 1], n, { dtype: n % 3 ? 'f32' : 'bf16' }));
  await expectAsOnHost(map(value), inputs, [filled([6, 8])], 2e-6, ctx);
  const primitive: ReducePrimitive = {
    ...{ kind: 'reduce', op: 'sum', axes: [1], domain: [6, 8] },
    ...{ element: add(value, 100), result: reduced },
  };
  await expectAsOnHost(primitive, inputs, [filled([6, 1])], 2e-6, ctx);
  // A long row, which is reduced in parts.
  const long = { ...primitive, axes: [0, 1], domain: [6, 3000] };
  const rows = names.map(n => numbers(n % 2 ? [3000] : [6, 1], n));
  await expectAsOnHost(long, rows, [filled([1, 1])], 2e-6, ctx);
  ctx.destroy();
});

test('an output in the memory of an input that it cannot overwrite is refused by name', async () => {
  const engine = webgpuEngine(await sharedContext());
  const neighbours = map(add(input(0), inputAt(0, [add(coordinate(0), 1)])));
  for (const [value, x] of [
    [neighbours, engine.upload(numbers([8], 1))],
    [map(input(0)), engine.upload(numbers([8], 1, { dtype: 'f16' }))],
  ] as const) {
    const prepared = engine.primitives.prepare(value, [x], [x]);
    expect(() => prepared.run([x], [x])).toThrow(/buffers.x0 must not share bytes with buffers.y0/);
    engine.release(x);
  }
});

test('shapes are uniforms of a kernel, not part of its text', () => {
  const textOf = (rows: number, columns: number): string => {
    const desc = { dtype: 'f32', shape: [rows, columns], strides: [columns, 1] } as const;
    const row = { dtype: 'f32', shape: [columns], strides: [1] } as const;
    const capabilities = guaranteedCapabilities;
    const { kernels } = mapKernels(scaled, {
      ...{ inputs: [desc, row], outputs: [desc], unaligned: new Set<string>(), capabilities },
    });
    return kernels[0].wgsl;
  };
  expect(textOf(8, 16)).toBe(textOf(100, 2048));
});

test('products of integers are unsupported, with a reason', async () => {
  const { primitives } = webgpuEngine(await sharedContext());
  const whole = { dtype: 'i8', shape: [4, 4], strides: [4, 1] } as const;
  const { supported, reasons } = primitives.checkSupport({ kind: 'matmul' }, [whole, whole], [whole]);
  expect([supported, reasons]).toEqual([false, [expect.stringMatching(/floats.*i8/)]]);
});
