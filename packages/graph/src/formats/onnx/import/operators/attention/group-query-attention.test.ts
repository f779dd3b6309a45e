import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { runOnnx } from '../../../../../../testing/compare/onnx-session.ts';
import { fromOnnx } from '../../../index.ts';
import { encodeModel } from '../../../model.ts';

const [H, Hk, D] = [4, 2, 16];

interface Cache {
  readonly B: number;
  readonly Sq: number;
  readonly past: number;
  /** The number of tokens of each entry after the call, minus 1. */
  readonly last: readonly number[];
  readonly total: number;
  readonly window?: number;
}

const caches: Readonly<Record<string, Cache>> = {
  'a prompt of several lengths': { B: 2, Sq: 5, past: 0, last: [4, 2], total: 5 },
  'a cache that is full': { B: 2, Sq: 1, past: 6, last: [6, 6], total: 7 },
  'a cache of several lengths': { B: 2, Sq: 1, past: 6, last: [5, 3], total: 6 },
  'a cache with free slots': { B: 2, Sq: 1, past: 16, last: [9, 7], total: 10, window: 4 },
  'several tokens into free slots': { B: 1, Sq: 3, past: 16, last: [7], total: 8 },
  'a prompt into free slots': { B: 2, Sq: 5, past: 16, last: [4, 4], total: 5 },
};

test.each(Object.entries(caches))(
  'GroupQueryAttention with %s is as in onnxruntime',
  async (_, { B, Sq, past, last, total, window = -1 }) => {
    const draw = (shape: readonly number[], seed: number): Tensor => {
      const count = shape.reduce((n, extent) => n * extent, 1);
      return Tensor.from(
        Float32Array.from({ length: count }, (_, n) => Math.sin(1.3 * n * n + seed)),
        shape,
      );
    };
    const table = (of: (x: number) => number): Tensor =>
      Tensor.from(
        Float32Array.from({ length: 8 * 32 }, (_, n) => of(Math.floor(n / 8) / 3 ** (n % 8))),
        [32, 8],
      );
    const integers = (list: readonly number[]): Tensor => Tensor.from(list, [list.length], { dtype: 'i32' });
    const inputs: Record<string, Tensor> = {
      q: draw([B, Sq, H * D], 1),
      k: draw([B, Sq, Hk * D], 2),
      v: draw([B, Sq, Hk * D], 3),
      pastK: draw([B, Hk, past, D], 4),
      pastV: draw([B, Hk, past, D], 5),
      last: integers(last),
      total: integers([total]),
      cos: table(Math.cos),
      sin: table(Math.sin),
    };
    const names = Object.keys(inputs);
    const outputs = ['o', 'presentK', 'presentV'];
    const attributes = {
      ...{ num_heads: { int: H }, kv_num_heads: { int: Hk } },
      ...{ do_rotary: { int: 1 }, local_window_size: { int: window } },
    };
    const bytes = encodeModel({
      ...{ name: 'cache', opset: 17, initializers: [] },
      nodes: [
        {
          ...{ op: 'GroupQueryAttention', domain: 'com.microsoft', name: 'gqa' },
          ...{ inputs: names, outputs, attributes },
        },
      ],
      inputs: names.map(name => {
        const { shape, dtype } = inputs[name] as Tensor;
        return { name, type: dtype === 'i32' ? 6 : 1, shape };
      }),
      outputs: outputs.map(name => ({ name, type: 1, shape: null })),
    });
    const expected = await runOnnx(bytes, inputs);
    const model = await fromOnnx(bytes);
    const results = await model.run(cpuEngine(), inputs);
    for (const name of outputs) {
      const got = (results[name] as Tensor).toFloat64();
      expected[name]?.toFloat64().forEach((x, n) => {
        expect(got[n], `${name}[${n}]`).toBeCloseTo(x, 4);
      });
    }
    model.release();
  },
);
