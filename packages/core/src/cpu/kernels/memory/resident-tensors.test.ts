import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { input } from '../../../primitive/index.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { cpuEngine } from '../../engine.ts';
import { engineKernels } from '../engine-kernels.ts';

const variant = 'wasm-simd';
const engine = cpuEngine({ variant, threads: 1 });
const memory = engineKernels.residentMemory(variant);
const values = Float32Array.from({ length: 1000 }, (_, n) => n);

test('an uploaded tensor is stored in the memory of the kernels, and so is an uploaded view of it', () => {
  const given = Tensor.from(values, [10, 100]);
  const tensor = engine.upload(given);
  expect(memory.addressOf(given.data)).toBe(-1);
  expect(memory.addressOf(tensor.data)).toBeGreaterThan(0);
  expect(engine.upload(tensor)).toBe(tensor);
  expect(tensor.toFloat32()).toEqual(values);
});

test('an upload keeps layout, dtype and bits, and the caller may write to the original', () => {
  const given = Tensor.from([1, NaN, -0, 3], [2, 2], { dtype: 'bf16', strides: [1, 3] });
  const tensor = engine.upload(given);
  expect(tensor).toMatchObject({ dtype: 'bf16', shape: [2, 2], strides: [1, 3], offset: 0 });
  expect(tensor.data).toEqual(given.data);
  given.set(9, 0, 0);
  expect(tensor.get(0, 0)).toBe(1);
});

test('a held tensor does not change while the memory grows and other tensors are allocated and freed', () => {
  const held = engine.upload(Tensor.from(values, [1000]));
  const { bytes } = memory;
  const others = Array.from({ length: 8 }, () =>
    engine.primitives.allocate({ dtype: 'f32', shape: [2 ** 18] }),
  );
  for (const other of others) other.data.fill(7);
  for (const other of others.slice(0, 4)) engine.release(other);
  for (const n of [1, 2, 3]) {
    const tensor = engine.primitives.allocate({ dtype: 'f32', shape: [n * 1000] });
    tensor.data.fill(n);
  }
  memory.reset();
  memory.floats(2 ** 20).values.fill(5);
  memory.reset();
  expect(memory.bytes).toBeGreaterThan(bytes);
  expect(held.toFloat32()).toEqual(values);
  for (const other of others.slice(4)) expect(other.data.every(x => x === 7)).toBe(true);
});

test('released memory is reused once, and a second release does nothing', () => {
  const first = engine.primitives.allocate({ dtype: 'f32', shape: [5000] });
  const at = memory.addressOf(first.data);
  engine.release(first);
  const second = engine.primitives.allocate({ dtype: 'f32', shape: [5000] });
  expect(memory.addressOf(second.data)).toBe(at);
  engine.release(first);
  const third = engine.primitives.allocate({ dtype: 'f32', shape: [5000] });
  expect(memory.addressOf(third.data)).not.toBe(at);
});

test('a released tensor and its views are refused, so that nobody reads the tensors that reuse their memory', async () => {
  const tensor = engine.upload(Tensor.from(values, [1, 1, 10, 100]));
  const view = tensor.slice(2, 2, 4);
  engine.release(tensor);
  const next = engine.upload(Tensor.from(Float32Array.from(values).reverse(), [1, 1, 10, 100]));
  const refused = expect.objectContaining({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('has 0: it was released'),
  });
  for (const lost of [tensor, view]) {
    const { dtype, shape } = lost;
    const onlyReads = [() => lost.toFloat32(), () => lost.get(0, 0, 0, 0), () => lost.contiguous()];
    for (const use of [...onlyReads, () => engine.upload(lost)]) expect(use).toThrow(refused);
    await expect(engine.download(lost)).rejects.toEqual(refused);
    await expect(engine.sdpa(next, lost, lost)).rejects.toEqual(refused);
    const to = engine.primitives.allocate({ dtype, shape });
    const copy = engine.primitives.prepare({ kind: 'map', value: input(0) }, [lost], [to]);
    expect(() => copy.run([lost], [to])).toThrow(refused);
    expect(() => copy.bind?.([lost], [to])).toThrow(refused);
  }
  expect(next.get(0, 0, 0, 0)).toBe(999);
});

test.each([
  ['INVALID_SHAPE', { dtype: 'f32', shape: [-1] }],
  ['INVALID_SHAPE', { dtype: 'f32', shape: [2], strides: [1, 1] }],
  ['INVALID_DTYPE', { dtype: 'f12', shape: [1] }],
])('a description of no tensor gives %s when it is allocated', (code, desc) => {
  const allocate = () => engine.primitives.allocate(desc as never);
  expect(allocate).toThrow(expect.objectContaining({ code }));
});

test('an unreferenced tensor is freed, and a tensor with a view is not', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const bytes = 2 ** 24;
  const view = engine.upload(Tensor.from(values, [1000])).slice(0, 10, 20);
  for (let n = 0; n < 40; n++) {
    engine.primitives.allocate({ dtype: 'u8', shape: [bytes] });
    collect();
    await new Promise(resolve => setTimeout(resolve));
  }
  expect(memory.bytes).toBeLessThan(20 * bytes);
  expect([...view.toFloat32()]).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
});

test('a downloaded tensor has its own ordinary buffer', async () => {
  const tensor = engine.upload(Tensor.from(values, [100, 10]).permute(1, 0));
  const copy = await engine.download(tensor);
  expect(copy.data.buffer).toBeInstanceOf(ArrayBuffer);
  expect(copy.strides).toEqual([1, 10]);
  tensor.data.fill(0);
  expect(copy.toFloat32()).toEqual(Tensor.from(values, [100, 10]).permute(1, 0).toFloat32());
});

test('when the memory is full, tensors are in ordinary buffers and can still be used', () => {
  const huge = { dtype: 'u8', shape: [2 ** 31] } as const;
  const kept = [1, 2].map(() => memory.keep(huge.shape[0]));
  const storage = kept.find(block => block === null);
  expect(storage).toBeNull();
  for (const block of kept) if (block) memory.free(block.at);
  const outside = Tensor.from([1, 2, 3], [3]);
  const inside = engine.primitives.allocate({ dtype: 'f32', shape: [3] });
  const copy = { kind: 'map', value: input(0) } as const;
  engine.primitives.prepare(copy, [outside], [inside]).run([outside], [inside]);
  expect([...inside.toFloat32()]).toEqual([1, 2, 3]);
});

test('a computation without enough memory throws a typed error', () => {
  const wide = { dtype: 'f32', shape: [1], strides: [1] } as const;
  const source = Tensor.wrap(new Float32Array(1), wide);
  expect(() => memory.floats(2 ** 31)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
  memory.reset();
  const to = engine.primitives.allocate(wide);
  engine.primitives.prepare({ kind: 'map', value: input(0) }, [source], [to]).run([source], [to]);
  expect(to.get(0)).toBe(0);
});
