import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { sharedGpu } from '../../../testing/compare/webgpu-engine.ts';
import { watchedEngine } from '../../../testing/watched-engine.ts';
import { add, compile, matmul, typeCast, type Variable } from '../../frontends/functions/index.ts';

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

test('on WebGPU the product is the same', async () => {
  const { engine } = await sharedGpu();
  const step = compile(engine, product, specs);
  const y = await engine.download(await step({ x, w }));
  expect([...y.toFloat32()]).toEqual(expected);
  step.release();
});
