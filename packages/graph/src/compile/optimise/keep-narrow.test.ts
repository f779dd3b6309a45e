import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { sharedGpu } from '../../../testing/compare/webgpu-engine.ts';
import { watchedEngine } from '../../../testing/watched-engine.ts';
import {
  add,
  compile,
  concat,
  matmul,
  multiply,
  reduceSum,
  slice,
  softmax,
  subtract,
  transpose,
  typeCast,
  type Variable,
} from '../../frontends/functions/index.ts';

type Inputs = Readonly<Record<'x' | 'y', Variable>>;
const to = (dtype: 'f16' | 'bf16' | 'f32', of: Variable): Variable => typeCast(of, { dtype });
const half = (shift: number): Tensor =>
  Tensor.from(
    Array.from({ length: 12 }, (_, n) => Math.sin(n + shift)),
    [3, 4],
    { dtype: 'f16' },
  );
const given = { x: half(0), y: half(5) };
const specs = { x: { shape: [3, 4], dtype: 'f16' }, y: { shape: [3, 4], dtype: 'f16' } } as const;

/** The kinds of the primitives of a function on the CPU engine, whose results are the reference's bits. */
async function kindsOf(of: (inputs: Inputs) => Variable): Promise<readonly string[]> {
  const { engine, kinds } = watchedEngine();
  const found = await compile(engine, of, specs)(given);
  const expected = await compile(referenceEngine(), of, specs)(given);
  expect([found.dtype, found.shape]).toEqual([expected.dtype, expected.shape]);
  expect([...found.toFloat32()]).toEqual([...expected.toFloat32()]);
  return kinds;
}

test('a map that reads a cast at other positions reads the 16-bit tensor, without a step for the cast', async () => {
  const swapped = ({ x }: Inputs) => {
    const wide = to('f32', transpose(x, [1, 0]));
    const part = (start: number) => slice(wide, { axis: 0, start, size: 2 });
    return multiply(concat([part(2), part(0)], { axis: 0 }), 3);
  };
  expect(await kindsOf(swapped)).toEqual(['map']);
});

test('numbers that are moved and cast back are never stored in f32', async () => {
  const moved = ({ x }: Inputs) => transpose(to('f32', x), [1, 0]);
  const product = ({ x, y }: Inputs) => matmul(to('f16', moved({ x, y })), y);
  expect(await kindsOf(product)).toEqual(['matmul']);
  const both = (inputs: Inputs) =>
    add(multiply(moved(inputs), 1.0009765625), to('f32', to('f16', moved(inputs))));
  expect(await kindsOf(both)).toEqual(['map']);
});

test('numbers of two 16-bit dtypes, sums, and the input of a softmax equal the reference', async () => {
  const mixed = ({ x, y }: Inputs) =>
    concat([to('f32', x), to('f32', to('bf16', multiply(to('f32', y), 1)))], { axis: 0 });
  await kindsOf(inputs => to('f16', mixed(inputs)));
  const part = ({ x, y }: Inputs) => concat([to('f32', x), add(to('f32', y), 1e-4)], { axis: 0 });
  await kindsOf(inputs => slice(part(inputs), { axis: 0, start: 2, size: 3 }));
  const row = ({ x }: Inputs) => softmax(transpose(to('f32', x), [1, 0]), { axis: 1 });
  const [found, expected] = await Promise.all(
    [cpuEngine(), referenceEngine()].map(engine => compile(engine, row, specs)(given)),
  );
  for (const [n, value] of expected.toFloat32().entries()) expect(found.toFloat32()[n]).toBeCloseTo(value, 6);
});

const products = { x: [2, 3], w: { shape: [4, 3], dtype: 'bf16' } } as const;
type Operands = Readonly<Record<'x' | 'w', Variable>>;
const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
const w = Tensor.from([1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, -0.5, 2], [4, 3], { dtype: 'bf16' });
const product = ({ x: a, w: b }: Operands) => matmul(a, typeCast(b, { dtype: 'f32' }), { transposeB: true });
const expected = [1, 2, 3, 5.5, 4, 5, 6, 11.5];

test('a product reads a matrix of 16 bits as it is stored, transposed', async () => {
  const { engine, kinds } = watchedEngine();
  const step = compile(engine, product, products);
  expect(kinds).toEqual(['matmul']);
  expect([...(await step({ x, w })).toFloat32()]).toEqual(expected);
});

test('a product and a map read the same matrix of 16 bits', async () => {
  const { engine, kinds } = watchedEngine();
  const step = compile(
    engine,
    ({ x: a, w: b }: Operands) => {
      const wide = typeCast(b, { dtype: 'f32' });
      return [matmul(a, wide, { transposeB: true }), add(wide, 1)];
    },
    products,
  );
  expect(kinds.sort()).toEqual(['map', 'matmul']);
  const [y, more] = await step({ x, w });
  expect([...y.toFloat32()]).toEqual(expected);
  expect(more.toFloat32()[9]).toBe(1.5);
});

const rows = Tensor.from(
  Array.from({ length: 12 }, (_, n) => n),
  [6, 2],
  { dtype: 'f16' },
);
const wide = (of: Variable): Variable => typeCast(of, { dtype: 'f32' });
const part = (of: Variable): Variable => slice(of, { axis: 0, start: 3, size: 3 });

test.each<readonly [string, (h: Variable, x: Variable) => Variable, readonly number[]]>([
  ['a product of a slice of a cast', (h, x) => matmul(x, part(wide(h)), { transposeB: true }), [76, 98, 120]],
  ['a product of a cast slice', (h, x) => matmul(x, wide(part(h)), { transposeB: true }), [76, 98, 120]],
  [
    'rows of a slice of a cast',
    h => subtract(part(wide(h)), reduceSum(part(wide(h)), { axes: [1], keepDims: true })),
    [-7, -6, -9, -8, -11, -10],
  ],
  [
    'rows of a cast slice',
    h => subtract(wide(part(h)), reduceSum(wide(part(h)), { axes: [1], keepDims: true })),
    [-7, -6, -9, -8, -11, -10],
  ],
])('%s reads the elements at the offset of the slice, on both engines', async (_, of, expected) => {
  const { engine: gpu } = await sharedGpu();
  const specs = { h: { shape: [6, 2], dtype: 'f16' }, x: [1, 2] } as const;
  const given = { h: rows, x: Tensor.from([1, 10], [1, 2]) };
  const onCpu = await compile(cpuEngine(), ({ h, x }) => of(h, x), specs)(given);
  const step = compile(gpu, ({ h, x }) => of(h, x), specs);
  const onGpu = await gpu.download(await step(given));
  for (const y of [onCpu, onGpu]) expect([...y.toFloat32()]).toEqual(expected);
  step.release();
});

test('on WebGPU the product is the same', async () => {
  const { engine } = await sharedGpu();
  const step = compile(engine, product, products);
  const y = await engine.download(await step({ x, w }));
  expect([...y.toFloat32()]).toEqual(expected);
  step.release();
});
