import { Tensor, type TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { describe, expect, test } from 'vitest';
import { sharedGpu } from '../../testing/compare/webgpu-engine.ts';
import {
  add,
  compile,
  matmul,
  multiply,
  neg,
  reduceMean,
  reduceSum,
  reshape,
  softmax,
  subtract,
  tensorScatter,
  transpose,
  typeCast,
  type Variable,
} from '../frontends/functions/index.ts';

const specs = { past: [2, 3, 2], update: [2, 1, 2], first: { shape: [2], dtype: 'i32' } } as const;
const zeros = () => Tensor.zeros([2, 3, 2]);
const update = Tensor.from([1, 2, 3, 4], [2, 1, 2]);
const first = Tensor.from([2, 0], [2], { dtype: 'i32' });
type Inputs = Readonly<Record<'past' | 'update' | 'first', Variable>>;
const append = ({ past, update: added, first: at }: Inputs) => tensorScatter(past, added, at, { axis: 1 });

/** Tests that run on both engines. */
function inPlaceTests<T extends TensorDesc>(open: () => Promise<TensorEngine<T>>): void {
  test('a cache is extended in place, and its other elements are not written', async () => {
    const engine = await open();
    const step = compile(engine, append, specs);
    const past = engine.upload(
      Tensor.from(
        Array.from({ length: 12 }, (_, n) => 10 * n),
        [2, 3, 2],
      ),
    );
    const present = await step({ past, update, first }, [past]);
    expect(present).toBe(past);
    const expected = [0, 10, 20, 30, 1, 2, 3, 4, 80, 90, 100, 110];
    expect([...(await engine.download(past)).toFloat32()]).toEqual(expected);
    step.release();
  });

  test('an input that nothing overwrites does not change', async () => {
    const engine = await open();
    const step = compile(engine, append, specs);
    const past = engine.upload(zeros());
    const present = await step({ past, update, first });
    expect([...(await engine.download(present)).toFloat32()]).toEqual([0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]);
    expect([...(await engine.download(past)).toFloat32()]).toEqual(new Array(12).fill(0));
    step.release();
  });
}

/** The update of a parameter and its moment; a product reads the parameter before the update. */
const move = ({ value, mean, gradient }: Readonly<Record<'value' | 'mean' | 'gradient', Variable>>) => {
  const square = matmul(reshape(value, [1, 3]), reshape(value, [3, 1]));
  const next = add(multiply(mean, 0.5), gradient);
  return [subtract(value, next), next, square];
};

function updateTests<T extends TensorDesc>(open: () => Promise<TensorEngine<T>>): void {
  test('maps write parameters and moments in place', async () => {
    const engine = await open();
    const step = compile(engine, move, { value: [3], mean: [3], gradient: [3] });
    const [value, mean] = [
      [1, 2, 3],
      [10, 20, 30],
    ].map(numbers => engine.upload(Tensor.from(numbers, [3])));
    const gradient = Tensor.from([1, 1, 1], [3]);
    const results = await step({ value, mean, gradient }, [value, mean]);
    expect(results.slice(0, 2)).toEqual([value, mean]);
    const found = await Promise.all(results.map(async t => [...(await engine.download(t)).toFloat32()]));
    expect(found).toEqual([[-5, -9, -13], [6, 11, 16], [14]]);
    await expect(step({ value, mean, gradient }, [value, value])).rejects.toThrow('must not overlap');
    step.release();
  });
}

/** The update of a parameter in 16 bits. */
const moveHalf = ({ p, x }: Readonly<Record<'p' | 'x', Variable>>) => {
  const w = typeCast(p, { dtype: 'f32' });
  return typeCast(subtract(w, softmax(matmul(x, w), { axis: 1 })), { dtype: 'bf16' });
};

function halfUpdateTests<T extends TensorDesc>(open: () => Promise<TensorEngine<T>>): void {
  test('a map writes a parameter of 16 bits in place', async () => {
    const engine = await open();
    const step = compile(engine, moveHalf, { p: { shape: [2, 2], dtype: 'bf16' }, x: [2, 2] });
    const p = engine.upload(Tensor.from([1, 2, 3, 4], [2, 2], { dtype: 'bf16' }));
    expect(await step({ p, x: Tensor.from([0, 0, 0, 0], [2, 2]) }, [p])).toBe(p);
    expect([...(await engine.download(p)).toFloat32()]).toEqual([0.5, 1.5, 2.5, 3.5]);
    step.release();
  });
}

/** Results that are given host tensors. */
function readBackTests<T extends TensorDesc>(open: () => Promise<TensorEngine<T>>): void {
  test('a result that is given a host tensor is read back', async () => {
    const engine = await open();
    const fn = ({ x }: Readonly<Record<'x', Variable>>) => ({ sum: add(x, 1), product: multiply(x, 2) });
    const step = compile(engine, fn, { x: [2, 2] });
    const onHost = Tensor.zeros([2, 2]);
    const { sum, product } = await step({ x: Tensor.from([1, 2, 3, 4], [2, 2]) }, [onHost]);
    expect(sum).toBe(onHost);
    expect([...onHost.toFloat32()]).toEqual([2, 3, 4, 5]);
    expect([...(await engine.download(product as T)).toFloat32()]).toEqual([2, 4, 6, 8]);
    const wrong = step({ x: Tensor.zeros([2, 2]) }, [Tensor.zeros([4])]);
    await expect(wrong).rejects.toThrow('must be bound to shape [2,2], got [4]');
    step.release();
  });
}

describe('on the CPU', () => readBackTests(async () => cpuEngine()));
describe('on WebGPU', () => readBackTests(async () => (await sharedGpu()).engine));

describe('on the CPU', () => halfUpdateTests(async () => cpuEngine()));
describe('on WebGPU', () => halfUpdateTests(async () => (await sharedGpu()).engine));

describe('on the CPU', () => updateTests(async () => cpuEngine()));
describe('on WebGPU', () => updateTests(async () => (await sharedGpu()).engine));

test('an output does not overwrite elements that are still read', async () => {
  const engine = cpuEngine();
  const x = Tensor.from([1, 2, 3, 4], [2, 2]);
  const inverse = compile(engine, ({ x: own }) => transpose(own, [1, 0]), { x: [2, 2] });
  await expect(inverse({ x }, [x])).rejects.toThrow('must not overlap');
  const late = compile(engine, ({ x: own }) => [add(own, 1), reduceSum(own, { axes: [0] })], { x: [2, 2] });
  await expect(late({ x }, [x])).rejects.toThrow('must not overlap');
  const half = compile(engine, ({ x: own }) => add(own, 1), { x: { shape: [2], dtype: 'f16' } });
  const words = Tensor.from([1, 2], [2], { dtype: 'f16' });
  await expect(half({ x: words }, [words])).rejects.toThrow('must not overlap');
});

test('a cast does not overwrite its input with elements of another dtype', async () => {
  const words = Int32Array.of(1, 2, 3, 4);
  const x = Tensor.wrap(words, { dtype: 'i32', shape: [4] });
  const y = Tensor.wrap(new Float32Array(words.buffer), { dtype: 'f32', shape: [4] });
  const cast = compile(cpuEngine(), ({ own }) => typeCast(own, { dtype: 'f32' }), {
    own: { shape: [4], dtype: 'i32' },
  });
  await expect(cast({ own: x }, [y])).rejects.toThrow('must not overlap');
});

describe('on the CPU', () => inPlaceTests(async () => cpuEngine()));
describe('on WebGPU', () => inPlaceTests(async () => (await sharedGpu()).engine));

test('a cache that is not bound in place does not change, although its successor is read at once', async () => {
  const engine = cpuEngine();
  const step = compile(engine, inputs => multiply(append(inputs as Inputs), 2), specs);
  const past = engine.upload(zeros());
  const found = await step({ past, update, first });
  expect([...found.toFloat32()]).toEqual([0, 0, 0, 0, 2, 4, 6, 8, 0, 0, 0, 0]);
  expect([...past.toFloat32()]).toEqual(new Array(12).fill(0));
});

test('a result overwrites an input that a norm has read before', async () => {
  const { engine } = await sharedGpu();
  const centred = ({ x, w }: Readonly<Record<'x' | 'w', Variable>>) => {
    const n = subtract(x, reduceMean(x, { axes: [1], keepDims: true }));
    return [matmul(n, w), neg(n)];
  };
  const step = compile(engine, centred, { x: [2, 2], w: [2, 3] });
  const x = engine.upload(Tensor.from([1, 3, 2, 8], [2, 2]));
  const product = engine.primitives.allocate({ dtype: 'f32', shape: [2, 3] });
  await step({ x, w: Tensor.from([1, 0, 0, 0, 1, 0], [2, 3]) }, [product, x]);
  expect([...(await engine.download(x)).toFloat32()]).toEqual([1, -1, 3, -3]);
  expect([...(await engine.download(product)).toFloat32()]).toEqual([-1, 1, 0, -3, 3, 0]);
  step.release();
});

test('an input that another operation reads is not overwritten', async () => {
  const engine = cpuEngine();
  const twice = (inputs: Inputs) => [append(inputs), multiply(inputs.past, 2)];
  const step = compile(engine, twice, specs);
  const past = zeros();
  await expect(step({ past, update, first }, [past])).rejects.toThrow('must not overlap');
});

test('an output at another offset in the memory of its input is refused', async () => {
  const step = compile(cpuEngine(), append, specs);
  const { data } = Tensor.zeros([14]);
  const [past, present] = [0, 2].map(offset => Tensor.wrap(data, { dtype: 'f32', shape: [2, 3, 2], offset }));
  await expect(step({ past, update, first }, [present])).rejects.toThrow('must not overlap');
});
