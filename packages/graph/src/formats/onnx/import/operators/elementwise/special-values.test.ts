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
  'the magnitude of an integer': { op: 'Abs', type: 'i32', inputs: [[-70970445, 3]], gives: [70970445, 3] },
  'an integer without its sign': { op: 'Neg', type: 'i32', inputs: [[70970445, -3]], gives: [-70970445, 3] },
  'powers of integers': {
    op: 'Pow',
    type: 'i32',
    inputs: [
      [5, -3, 7, 2],
      [3, 3, 0, 10],
    ],
    gives: [125, -27, 1, 1024],
  },
  'a square of an integer': { op: 'Pow', type: 'i32', inputs: [[38055, -3], [2]], gives: [1448183025, 9] },
  'a cube of an integer': { op: 'Pow', type: 'i32', inputs: [[101, -3], [3]], gives: [1030301, -27] },
  'the sign of NaN': { op: 'Sign', type: 'f32', inputs: [[none, -2, 0, inf]], gives: [none, -1, 0, 1] },
};

test.each(
  Object.entries(cases).flatMap(([name, one]) =>
    (['fed', 'held'] as const).map(how => [name, how, one] as const),
  ),
)('%s, of a first input that is %s', async (_, how, { op, type, inputs, attributes = {}, gives }) => {
  const isFed = how === 'fed';
  const number = type === 'f32' ? 1 : 6;
  const values = inputs.map((list, n) => ({
    ...{ name: `x${n}`, type: number, shape: [list.length] },
    data: new Uint8Array((type === 'f32' ? Float32Array.from(list) : Int32Array.from(list)).buffer),
  }));
  const bytes = encodeModel({
    ...{ name: op, opset: 18 },
    nodes: [{ op, name: op, inputs: values.map(({ name }) => name), outputs: ['y'], attributes }],
    initializers: values.slice(isFed ? 1 : 0),
    inputs: isFed ? values.slice(0, 1) : [],
    outputs: [{ name: 'y', type: number, shape: null }],
  });
  const [first = []] = inputs;
  const x0 = Tensor.from(first, [first.length], { dtype: type });
  const model = await fromOnnx(bytes);
  const { y } = await model.run(cpuEngine(), isFed ? { x0 } : {});
  const got = y?.toFloat64() ?? [];
  expect(got).toHaveLength(gives.length);
  for (const [n, wanted] of gives.entries()) {
    if (Number.isFinite(wanted)) expect(got[n], `element ${n}`).toBeCloseTo(wanted, 5);
    else expect(got[n], `element ${n}`).toBe(wanted);
  }
  model.release();
});
