import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { sharedGpu } from '../../../testing/compare/webgpu-engine.ts';
import { watchedEngine } from '../../../testing/watched-engine.ts';
import {
  add,
  compile,
  matmul,
  reduceSum,
  slice,
  transpose,
  typeCast,
  type Variable,
} from '../../frontends/functions/index.ts';

type Inputs = Readonly<Record<'x' | 'w', Variable>>;
const specs = { x: [2, 3], w: [3, 4] } as const;
const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
const w = Tensor.from(
  Array.from({ length: 12 }, (_, n) => Math.sin(n)),
  [3, 4],
);
const half = (of: Variable): Variable => typeCast(of, { dtype: 'f16' });
const transposedHalf = ({ x: a, w: b }: Inputs) => half(transpose(matmul(a, b), [1, 0]));

test('a product whose transpose is cast to 16 bits is stored in 16 bits', async () => {
  const { engine, kinds } = watchedEngine();
  const step = compile(engine, transposedHalf, specs);
  expect(kinds).toEqual(['matmul']);
  const y = await step({ x, w });
  const { engine: gpu } = await sharedGpu();
  const onGpu = compile(gpu, transposedHalf, specs);
  const other = await gpu.download(await onGpu({ x, w }));
  const product = await compile(cpuEngine(), ({ x: a, w: b }: Inputs) => matmul(a, b), specs)({ x, w });
  const rounded = product.cast('f16').toFloat32();
  const expected = Array.from({ length: 8 }, (_, n) => rounded[(n % 2) * 4 + Math.floor(n / 2)]);
  for (const made of [y, other]) {
    expect([made.dtype, made.shape]).toEqual(['f16', [4, 2]]);
    expect([...made.toFloat32()]).toEqual(expected);
  }
  onGpu.release();
});

test('a sum is stored in 16 bits, and rounded once', async () => {
  const step = compile(cpuEngine(), ({ x: a }) => half(reduceSum(a, { axes: [1] })), { x: [1, 3] });
  // The sum of the rounded numbers would be 2048.
  const given = Tensor.from([2048, 0.75, 0.5], [1, 3]);
  expect([...(await step({ x: given })).toFloat32()]).toEqual([2050]);
});

test('a result that another step reads in f32 stays f32', async () => {
  const { engine, kinds } = watchedEngine();
  const both = ({ x: a, w: b }: Inputs) => {
    const product = matmul(a, b);
    return [half(product), add(product, 1)];
  };
  const [rounded, exact] = await compile(engine, both, specs)({ x, w });
  expect(kinds).toContain('map');
  const product = (
    await compile(cpuEngine(), ({ x: a, w: b }: Inputs) => matmul(a, b), specs)({ x, w })
  ).toFloat32();
  expect([...exact.toFloat32()]).toEqual([...product.map(value => value + 1)]);
  expect([...rounded.toFloat32()]).toEqual([...Tensor.from(product, [2, 4]).cast('f16').toFloat32()]);
});

test('a result that is cast to two dtypes stays f32, and slices of it are rounded at their offsets', async () => {
  const both = ({ x: a, w: b }: Inputs) => {
    const product = matmul(a, b);
    const part = slice(product, { axis: 1, start: 1, size: 2 });
    return [
      half(part),
      typeCast(product, { dtype: 'bf16' }),
      half(slice(matmul(b, a, { transposeA: true, transposeB: true }), { axis: 0, start: 2, size: 2 })),
    ];
  };
  const product = await compile(cpuEngine(), ({ x: a, w: b }: Inputs) => matmul(a, b), specs)({ x, w });
  const p = product.toFloat32();
  const expected = [
    Tensor.from([p[1], p[2], p[5], p[6]], [2, 2]).cast('f16'),
    product.cast('bf16'),
    Tensor.from([p[2], p[6], p[3], p[7]], [2, 2]).cast('f16'),
  ];
  const { engine: gpu } = await sharedGpu();
  const onGpu = compile(gpu, both, specs);
  const results = [
    await compile(cpuEngine(), both, specs)({ x, w }),
    await Promise.all((await onGpu({ x, w })).map(each => gpu.download(each))),
  ];
  for (const made of results)
    for (const [n, each] of made.entries()) {
      expect(each.dtype).toBe(expected[n].dtype);
      expect([...each.toFloat32()]).toEqual([...expected[n].toFloat32()]);
    }
  onGpu.release();
});
