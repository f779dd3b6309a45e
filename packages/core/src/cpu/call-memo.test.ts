import { expect, test } from 'vitest';
import { sdpa as reference } from '../reference/index.ts';
import { Tensor } from '../tensor/tensor.ts';
import { cpuEngine } from './engine.ts';

const engine = cpuEngine({ threads: 1 });
const waves = (seed: number, shape: readonly number[] = [1, 2, 9, 8]): Tensor =>
  Tensor.from(
    Array.from({ length: shape.reduce((n, extent) => n * extent, 1) }, (_, n) => Math.sin(seed * n + seed)),
    shape,
  );

test('a call like an earlier one computes with its own tensors and options', async () => {
  for (const seed of [1, 2, 3]) {
    const [q, k, v] = [waves(seed), waves(seed + 0.3), waves(seed + 0.7)];
    for (const options of [undefined, {}, { causal: true }, { causal: true, scale: 0.5 }, { alibi: true }]) {
      const { o, lse } = await engine.sdpa(q, k, v, options);
      const expected = reference(q, k, v, options);
      const difference = (a: Tensor, b: Tensor): number =>
        Math.max(...a.toFloat64().map((x, n) => Math.abs(x - b.toFloat64()[n])));
      expect(difference(o, expected.o)).toBeLessThan(1e-5);
      expect(difference(lse, expected.lse)).toBeLessThan(1e-5);
    }
  }
});

test('tensors of equal shapes and other strides are another problem', async () => {
  const q = waves(1);
  const turned = waves(2, [1, 2, 8, 9]).permute(0, 1, 3, 2);
  for (const k of [q, turned, q, turned]) {
    const { o } = await engine.sdpa(q, k, q);
    const expected = reference(q, k, q).o.toFloat64();
    o.toFloat64().forEach((x, n) => {
      expect(x).toBeCloseTo(expected[n], 5);
    });
  }
});

test('an earlier valid call does not make an invalid call valid', async () => {
  const q = waves(1);
  await engine.sdpa(q, q, q);
  await engine.sdpa(q, q, q, { scale: 1 });
  await expect(engine.sdpa(q, q, q, { scale: Number.NaN })).rejects.toThrow('scale');
  await expect(engine.sdpa(q, q, q, null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(engine.sdpa(q, q, waves(1, [1, 2, 8, 8]))).rejects.toThrow();
  const lost = waves(4);
  structuredClone(lost.data.buffer, { transfer: [lost.data.buffer as ArrayBuffer] });
  await expect(engine.sdpa(q, q, lost)).rejects.toThrow('v must have 144 elements of storage');
});

test('options that an object inherits, and words that look like other options, do not match an earlier call', async () => {
  const q = waves(1);
  const causal = (await engine.sdpa(q, q, q, { causal: true })).o.toFloat32();
  await engine.sdpa(q, q, q, {});
  const { o } = await engine.sdpa(q, q, q, Object.create({ causal: true }));
  expect(o.toFloat32()).toEqual(causal);
  await engine.sdpa(q, q, q, { causal: 'bottom-right', scale: 0.5 });
  const odd = { causal: 'bottom-right;scale=number:0.5' } as never;
  await expect(engine.sdpa(q, q, q, odd)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('gradients of a call like an earlier one are its own', async () => {
  for (const seed of [1, 2]) {
    const [q, dO] = [waves(seed), waves(seed + 0.5)];
    const { o, lse } = await engine.sdpa(q, q, q);
    const inputs = { q, k: q, v: q, o, lse, dO };
    const { dq } = await engine.sdpaBackward(inputs);
    const { dv } = await engine.sdpaBackward(inputs, { gradients: ['dv'] });
    expect(dq.toFloat32()).toEqual((await cpuEngine({ threads: 1 }).sdpaBackward(inputs)).dq.toFloat32());
    expect(dv.toFloat32()).toEqual((await engine.sdpaBackward(inputs)).dv.toFloat32());
  }
});

test('a name that spells two options does not match an earlier call', async () => {
  const q = waves(1);
  await engine.sdpa(q, q, q, { causal: true, scale: 0.5 });
  const odd = { 'causal=true;scale': 0.5, 'causal",true]["scale': 0.5 } as never;
  await expect(engine.sdpa(q, q, q, odd)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
