import { type DType, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { fromOnnx } from '../../../index.ts';
import { encodeModel, type OnnxAttribute } from '../../../model.ts';

/** Element types of ONNX, and the dtypes of tensors for them. */
const types = {
  f32: [1, 'f32'],
  u8: [2, 'u8'],
  i16: [5, 'i32'],
  i32: [6, 'i32'],
  f16: [10, 'f16'],
  f8: [17, 'f8e4m3'],
  u4: [21, 'u8'],
  i4: [22, 'i8'],
} as const satisfies Record<string, readonly [number, DType]>;
type Type = keyof typeof types;

interface Given {
  readonly type: Type;
  readonly values: readonly number[];
  readonly shape?: readonly number[];
}

interface Case {
  readonly op: 'QuantizeLinear' | 'DequantizeLinear';
  /** x, its scales, and its zero points. */
  readonly inputs: readonly Given[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly gives: Given;
}

const given = (type: Type, values: readonly number[], shape?: readonly number[]): Given => ({
  ...{ type, values },
  ...(shape && { shape }),
});
const int = (value: number): OnnxAttribute => ({ int: value });
const blocks = { axis: int(1), block_size: int(2) };

const cases: Readonly<Record<string, Case>> = {
  // The steps are rounded to even before the zero point is added.
  'ties, at an odd zero point': {
    op: 'QuantizeLinear',
    inputs: [given('f32', [0.5, 1.5, 2.5, -0.5, 900]), given('f32', [1], []), given('u8', [3], [])],
    gives: given('u8', [3, 5, 5, 3, 255]),
  },
  '16 bits': {
    op: 'QuantizeLinear',
    inputs: [given('f32', [-1, 2.5, 40]), given('f32', [0.001], []), given('i16', [-7], [])],
    gives: given('i16', [-1007, 2493, 32767]),
  },
  '4 bits, in blocks of a row': {
    op: 'QuantizeLinear',
    inputs: [
      given('f32', [1, 2, 30, -40, 5, 6], [2, 3]),
      given('f32', [1, 10, 4, 1], [2, 2]),
      given('u4', [1, 0, 12, 2], [2, 2]),
    ],
    attributes: blocks,
    gives: given('u4', [2, 3, 3, 2, 13, 8], [2, 3]),
  },
  '8 bits, in blocks of a list': {
    op: 'QuantizeLinear',
    inputs: [given('f32', [2, 4, 30, -40]), given('f32', [1, 10]), given('u8', [0, 100])],
    attributes: { axis: int(0), block_size: int(2) },
    gives: given('u8', [2, 4, 103, 96]),
  },
  // 1.25 / 0.02066… is 60.502, which is 60.5 in f16.
  'a quotient in f16': {
    op: 'QuantizeLinear',
    inputs: [given('f16', [1.25]), given('f16', [0.020660400390625], []), given('u8', [2], [])],
    gives: given('u8', [62]),
  },
  'a quotient of f16 in f32': {
    op: 'QuantizeLinear',
    inputs: [given('f16', [1.25]), given('f16', [0.020660400390625], []), given('u8', [2], [])],
    attributes: { precision: int(1) },
    gives: given('u8', [63]),
  },
  '8-bit floats': {
    op: 'QuantizeLinear',
    inputs: [given('f32', [2, -1000, 3.1]), given('f32', [2], []), given('f8', [0], [])],
    gives: given('f8', [1, -448, 1.5]),
  },
  'biases of 32 bits': {
    op: 'DequantizeLinear',
    inputs: [given('i32', [-100000, 3, 40]), given('f32', [0.5, 2, 1])],
    attributes: { axis: int(0) },
    gives: given('f32', [-50000, 6, 40]),
  },
  'weights of 4 bits, in blocks of a row': {
    op: 'DequantizeLinear',
    inputs: [
      given('i4', [-8, 7, 1, 2, -3, 4], [2, 3]),
      given('f32', [1, 10, 4, 0.5], [2, 2]),
      given('i4', [1, 0, 2, -2], [2, 2]),
    ],
    attributes: blocks,
    gives: given('f32', [-9, 6, 10, 0, -20, 3], [2, 3]),
  },
  'f16 from 8 bits': {
    op: 'DequantizeLinear',
    inputs: [given('u8', [1, 200]), given('f16', [0.5], []), given('u8', [2], [])],
    gives: given('f16', [-0.5, 99]),
  },
  'f16 from 8-bit floats': {
    op: 'DequantizeLinear',
    inputs: [given('f8', [1.5, -448]), given('f16', [2], [])],
    gives: given('f16', [3, -896]),
  },
};

const names = ['x', 'scale', 'zero'];
const shapeOf = ({ values, shape }: Given): readonly number[] => shape ?? [values.length];
const tensorOf = (one: Given): Tensor => Tensor.from(one.values, shapeOf(one), { dtype: types[one.type][1] });

/** The elements as they are stored in a file. */
function dataOf({ type, values }: Given): Uint8Array {
  if (type === 'u4' || type === 'i4')
    return Uint8Array.from(
      { length: Math.ceil(values.length / 2) },
      (_, n) => ((values[2 * n] ?? 0) & 15) | (((values[2 * n + 1] ?? 0) & 15) << 4),
    );
  const { data } = tensorOf({ type, values }).contiguous();
  const own = type === 'i16' ? Int16Array.from(values) : data;
  return new Uint8Array(own.buffer as ArrayBuffer, own.byteOffset, own.byteLength);
}

test.each(
  Object.entries(cases).flatMap(([name, one]) =>
    (['held', 'fed'] as const).map(how => [name, how, one] as const),
  ),
)('%s, with %s scales', async (_, how, { op, inputs, attributes = {}, gives }) => {
  const value = (name: string, one: Given) => ({ name, type: types[one.type][0], shape: shapeOf(one) });
  const isFed = (n: number): boolean => n === 0 || how === 'fed';
  const bytes = encodeModel({
    ...{ name: op, opset: 21 },
    nodes: [{ op, name: op, inputs: names.slice(0, inputs.length), outputs: ['y'], attributes }],
    initializers: inputs.flatMap((one, n) =>
      isFed(n) ? [] : [{ ...value(names[n] ?? '', one), data: dataOf(one) }],
    ),
    inputs: inputs.flatMap((one, n) => (isFed(n) ? [value(names[n] ?? '', one)] : [])),
    outputs: [value('y', gives)],
  });
  const feeds = Object.fromEntries(
    inputs.flatMap((one, n) => (isFed(n) ? [[names[n] ?? '', tensorOf(one)] as const] : [])),
  );
  const model = await fromOnnx(bytes);
  const { y } = await model.run(cpuEngine(), feeds);
  expect(y?.dtype).toBe(types[gives.type][1]);
  expect(y?.shape).toEqual(shapeOf(gives));
  expect(Array.from(y?.toFloat64() ?? [])).toEqual(gives.values);
  model.release();
});

test.each([
  ['a scale for each of too few columns', [given('f32', [1, 2]), given('u8', [1, 2])], {}],
  ['more scales than the one column', [given('f32', [1, 2, 3])], { axis: int(2) }],
  ['a matrix of scales', [given('f32', [1, 2, 3], [1, 3])], {}],
  ['more blocks than a row has', [given('f32', [1, 2, 3, 4, 5, 6], [2, 3, 1])], blocks],
  ['too few zero points', [given('f32', [1, 2, 3]), given('u8', [1])], {}],
])('%s: both operators refuse the shape by name', async (_, rest, attributes) => {
  for (const [op, type] of [
    ['QuantizeLinear', 1],
    ['DequantizeLinear', 2],
  ] as const) {
    const bytes = encodeModel({
      ...{ name: op, opset: 21 },
      nodes: [{ op, name: op, inputs: names.slice(0, rest.length + 1), outputs: ['y'], attributes }],
      initializers: rest.map((one, n) => ({
        ...{ name: names[n + 1] ?? '', type: types[one.type][0], shape: shapeOf(one) },
        data: dataOf(one),
      })),
      inputs: [{ name: 'x', type, shape: [2, 3, 1] }],
      outputs: [{ name: 'y', type: 3 - type, shape: [2, 3, 1] }],
    });
    const model = await fromOnnx(bytes);
    expect(() => model.graph()).toThrow(/^operation (\w+) '\1': has '?(scale|zero).*of shape/);
  }
});
