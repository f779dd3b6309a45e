import { expect, test } from 'vitest';
import { normalise } from '../attention/call/normalise.ts';
import { InvalidArgumentError, InvalidShapeError } from '../errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import { cpuEngine } from './engine.ts';
import type { CpuEngineOptions } from './engine-options.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

const q = Tensor.from([1, 2, 3, 4], [1, 1, 2, 2]);
const engine = cpuEngine();

test('runs sdpa and sdpaBackward on host tensors without a copy', async () => {
  expect(engine.name).toBe('cpu');
  expect(engine.upload(q).toFloat32()).toEqual(q.toFloat32());
  const options = { causal: true };
  const { o, lse } = await engine.sdpa(q, q, q, options);
  expect(o).toEqual(sdpa(q, q, q, options).o);
  const inputs = { q, k: q, v: q, o, lse, dO: q };
  expect(await engine.sdpaBackward(inputs, options)).toEqual(sdpaBackward(inputs, options));
  expect(await engine.download(o)).toBe(o);
});

test('supports every valid problem', () => {
  const { problem } = normalise({ q, k: q, v: q });
  expect(engine.checkSupport(problem)).toEqual({ supported: true, reasons: [] });
});

test('rejects an invalid call as an error of the argument', async () => {
  const wide = Tensor.zeros([1, 1, 2, 3]);
  await expect(engine.sdpa(q, wide, q)).rejects.toThrow(InvalidShapeError);
});

test('refuses tensors that are not on the host, before it reads any', async () => {
  const elsewhere = { dtype: q.dtype, shape: q.shape, strides: q.strides } as Tensor;
  const refused = /must be a Tensor on this host: download it first/;
  const { o, lse } = sdpa(q, q, q);
  expect(() => sdpa(elsewhere, q, q)).toThrow(refused);
  await expect(engine.sdpa(q, elsewhere, q)).rejects.toThrow(refused);
  expect(() => sdpaBackward({ q, k: q, v: q, o: elsewhere, lse, dO: q })).toThrow(refused);
  await expect(engine.sdpaBackward({ q, k: q, v: q, o, lse, dO: elsewhere })).rejects.toThrow(refused);
});

test('describes its kernels, and accepts other kernels', async () => {
  expect(cpuEngine({ threads: 1 }).description).toBe(
    'tiled flash attention in WebAssembly with relaxed SIMD, one thread',
  );
  const plain = cpuEngine({ variant: 'typescript' });
  expect(plain.description).toContain('in TypeScript');
  const { o } = await plain.sdpa(q, q, q);
  expect(o.get(0, 0, 1, 1)).toBeCloseTo(sdpa(q, q, q).o.get(0, 0, 1, 1), 5);
});

test.each<unknown>([
  ...[
    { threads: 0 },
    { threads: 300 },
    { threads: 1.5 },
    { threads: '2' },
    { variant: 'avx' },
    { thread: 2 },
  ],
  ...[4, null],
])('refuses %o', options => {
  expect(() => cpuEngine(options as CpuEngineOptions)).toThrow(InvalidArgumentError);
});

test('overwrites only what it has uploaded: no view, no released tensor, and nothing of another kind', () => {
  const { overwrite, primitives, release, upload } = cpuEngine({ threads: 1 });
  if (!overwrite) throw new Error('the engine overwrites no tensors');
  const numbers = (...values: number[]): Tensor => Tensor.from(values, [values.length]);
  const x = upload(numbers(1, 2, 3, 4, 5, 6));
  expect(overwrite(x, numbers(6, 5, 4, 3, 2, 1))).toBe(true);
  expect([...x.toFloat32()]).toEqual([6, 5, 4, 3, 2, 1]);
  expect(overwrite(x, Tensor.zeros([6], { dtype: 'f16' }))).toBe(false);
  expect(overwrite(x, Tensor.zeros([2, 3]))).toBe(false);
  expect(overwrite(x, upload(numbers(0, 0, 0, 0, 0, 0)))).toBe(false);
  for (const offset of [0, 3]) {
    const view = primitives.view(x, { shape: [3], strides: [1], offset });
    expect(overwrite(view, numbers(7, 8, 9))).toBe(false);
  }
  expect([...x.toFloat32()]).toEqual([6, 5, 4, 3, 2, 1]);
  const gone = upload(numbers(1, 2, 3, 4));
  release(gone);
  const next = upload(numbers(5, 6, 7, 8));
  expect(overwrite(gone, numbers(0, 0, 0, 0))).toBe(false);
  expect([...next.toFloat32()]).toEqual([5, 6, 7, 8]);
});
