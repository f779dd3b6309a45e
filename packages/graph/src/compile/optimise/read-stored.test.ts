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
  subtract,
  typeCast,
  type Variable,
} from '../../frontends/functions/index.ts';

const specs = { x: [2, 3], w: { shape: [4, 3], dtype: 'bf16' } } as const;
type Inputs = Readonly<Record<'x' | 'w', Variable>>;
const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
const w = Tensor.from([1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, -0.5, 2], [4, 3], { dtype: 'bf16' });
const product = ({ x: a, w: b }: Inputs) => matmul(a, typeCast(b, { dtype: 'f32' }), { transposeB: true });
const expected = [1, 2, 3, 5.5, 4, 5, 6, 11.5];

test('a product reads a matrix of 16 bits as it is stored, transposed', async () => {
  const { engine, kinds } = watchedEngine();
  const step = compile(engine, product, specs);
  expect(kinds).toEqual(['matmul']);
  expect([...(await step({ x, w })).toFloat32()]).toEqual(expected);
});

test('what something else reads too is cast', async () => {
  const { engine, kinds } = watchedEngine();
  const step = compile(
    engine,
    ({ x: a, w: b }: Inputs) => {
      const wide = typeCast(b, { dtype: 'f32' });
      return [matmul(a, wide, { transposeB: true }), add(wide, 1)];
    },
    specs,
  );
  expect(kinds.filter(kind => kind === 'map').length).toBeGreaterThan(0);
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
])('%s reads what lies at the offset of the slice, on both engines', async (_, of, expected) => {
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
  const step = compile(engine, product, specs);
  const y = await engine.download(await step({ x, w }));
  expect([...y.toFloat32()]).toEqual(expected);
  step.release();
});
