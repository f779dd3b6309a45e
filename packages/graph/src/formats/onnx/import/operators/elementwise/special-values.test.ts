import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { fromOnnx } from '../../../index.ts';
import { encodeModel, type OnnxAttribute } from '../../../model.ts';

interface Case {
  readonly op: string;
  readonly type: 'f32' | 'i32';
  readonly inputs: readonly (readonly number[])[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly gives: readonly number[];
}

const { NaN: none, POSITIVE_INFINITY: inf } = Number;

/** Elementwise operators at infinities, NaN, 0, and integers beyond the 24 bits of f32. */
const cases: Readonly<Record<string, Case>> = {
  'a remainder by infinities': {
    op: 'Mod',
    type: 'f32',
    inputs: [
      [-3, 3, -1, 1, inf, 1],
      [inf, inf, -inf, -inf, 2, 0],
    ],
    gives: [inf, 3, -1, -inf, none, none],
  },
  'a remainder with the sign of x': {
    op: 'Mod',
    type: 'f32',
    inputs: [
      [-3, 5, -5, inf, 7.5],
      [inf, 3, 3, 2, -2],
    ],
    attributes: { fmod: { int: 1 } },
    gives: [-3, 2, -2, none, 1.5],
  },
};

test.each(
  Object.entries(cases).flatMap(([name, one]) =>
    (['fed', 'held'] as const).map(how => [name, how, one] as const),
  ),
)('%s, of numbers that are %s', async (_, how, { op, type, inputs, attributes = {}, gives }) => {
  const names = inputs.map((_, n) => `x${n}`);
  const number = type === 'f32' ? 1 : 6;
  const values = inputs.map((list, n) => ({ name: `x${n}`, type: number, shape: [list.length] }));
  const data = (list: readonly number[]): Uint8Array =>
    new Uint8Array((type === 'f32' ? Float32Array.from(list) : Int32Array.from(list)).buffer);
  const bytes = encodeModel({
    ...{ name: op, opset: 18 },
    nodes: [{ op, name: op, inputs: names, outputs: ['y'], attributes }],
    initializers: how === 'held' ? values.map((value, n) => ({ ...value, data: data(inputs[n] ?? []) })) : [],
    inputs: how === 'fed' ? values : [],
    outputs: [{ name: 'y', type: number, shape: null }],
  });
  const feeds = inputs.map(
    (list, n) => [`x${n}`, Tensor.from(list, [list.length], { dtype: type })] as const,
  );
  const model = await fromOnnx(bytes);
  const { y } = await model.run(cpuEngine(), how === 'fed' ? Object.fromEntries(feeds) : {});
  const got = y?.toFloat64() ?? [];
  expect(got).toHaveLength(gives.length);
  for (const [n, wanted] of gives.entries()) {
    if (Number.isFinite(wanted)) expect(got[n], `element ${n}`).toBeCloseTo(wanted, 5);
    else expect(got[n], `element ${n}`).toBe(wanted);
  }
  model.release();
});
