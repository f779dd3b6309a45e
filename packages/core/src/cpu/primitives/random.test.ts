import { dropoutMask } from '@tilewise/philox';
import { describe, expect, test } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import { cpuEngine } from '../index.ts';
import { supportedVariants } from '../kernels/host-kernels.ts';
import { cpuPrimitives } from './cpu-primitives.ts';

const primitive = { kind: 'random', distribution: 'bernoulli' } as const;

const words = (x: bigint): Tensor =>
  Tensor.from([Number(x & 0xffffffffn), Number(x >> 32n)], [2], { dtype: 'u32' });
const number = (p: number): Tensor => Tensor.from([p], []);

const expected = (count: number, p: number, seed: bigint, offset: bigint): Uint8Array =>
  dropoutMask({ shape: [1, 1, 1, count], p, seed, offset, scheme: 'onednn' });

describe.each(supportedVariants())('%s', variant => {
  const { prepare, view } = cpuPrimitives(variant);

  test.each([
    [1, 0.5, 7n, 1n],
    [15, 0.25, 0xffffffff_ffffffffn, 0xffffffff_ffffffffn],
    [16, 0.9, 3n, 0n],
    [1003, 0.1, 2n ** 33n + 5n, 2n ** 40n],
    [64, 0, 1n, 1n],
    [70, 1, 1n, 1n],
    [4099, Math.fround(0.3), 123n, 2n ** 32n - 1n],
  ])("%i elements with p = %d follow oneDNN's convention", (count, p, seed, offset) => {
    for (const dtype of ['bool', 'u8', 'f32'] as const) {
      const inputs = [words(seed), words(offset), number(p)];
      // The elements before and after those of the output must not change.
      const whole = Tensor.from(new Array<number>(count + 40).fill(1), [count + 40], { dtype });
      const output = view(whole, { shape: [count], strides: [1], offset: 20 });
      prepare(primitive, inputs, [output]).run(inputs, [output]);
      const ones = new Array<number>(20).fill(1);
      expect([...whole.toFloat32()]).toEqual([...ones, ...expected(count, p, seed, offset), ...ones]);
    }
  });
});

test.each([1, 2, 3, 8])('%i threads draw the same numbers, and use changed seeds', async threads => {
  const engine = cpuEngine({ threads });
  const { allocate, prepare } = engine.primitives;
  const count = 2 ** 18 + 37;
  const inputs = [words(1n), words(2n), number(0.5)].map(tensor => engine.upload(tensor));
  const output = allocate({ dtype: 'bool', shape: [count] });
  const prepared = prepare(primitive, inputs, [output]);
  const work = prepared.bind?.(inputs, [output]);
  for (const [seed, offset, p] of [
    [1n, 2n, 0.5],
    [2n ** 63n, 9n, 0.1],
    [77n, 2n ** 35n, 0.75],
  ] as const) {
    for (const [n, tensor] of [words(seed), words(offset), number(p)].entries()) {
      engine.overwrite?.(inputs[n], tensor);
    }
    work?.run();
    expect(Buffer.compare(new Uint8Array(output.toFloat32()), expected(count, p, seed, offset))).toBe(0);
    prepared.run(inputs, [output]);
    expect(Buffer.compare(new Uint8Array(output.toFloat32()), expected(count, p, seed, offset))).toBe(0);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  work?.release();
});

test('a number that is not a probability is refused, even after the steps were bound', () => {
  const engine = cpuEngine({ threads: 1 });
  const { allocate, prepare } = engine.primitives;
  const inputs = [words(1n), words(2n), number(0.5)].map(tensor => engine.upload(tensor));
  const output = allocate({ dtype: 'bool', shape: [64] });
  const prepared = prepare(primitive, inputs, [output]);
  const work = prepared.bind?.(inputs, [output]);
  for (const p of [Number.NaN, -0.5, 2]) {
    engine.overwrite?.(inputs[2], number(p));
    expect(() => prepared.run(inputs, [output])).toThrow(`p must be a number in [0, 1], got ${p}`);
    expect(() => work?.run()).toThrow(`p must be a number in [0, 1], got ${p}`);
  }
});
