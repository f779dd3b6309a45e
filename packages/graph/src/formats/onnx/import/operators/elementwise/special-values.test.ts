import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { fromOnnx } from '../../../index.ts';
import { encodeModel, type OnnxAttribute } from '../../../model.ts';

/** ONNX's element types by number, the arrays of their elements, and their dtypes in an engine. */
const types = {
  f32: { number: 1, array: Float32Array, dtype: 'f32' },
  u8: { number: 2, array: Uint8Array, dtype: 'u8' },
  i8: { number: 3, array: Int8Array, dtype: 'i8' },
  u16: { number: 4, array: Uint16Array, dtype: 'i32' },
  i16: { number: 5, array: Int16Array, dtype: 'i32' },
  i32: { number: 6, array: Int32Array, dtype: 'i32' },
  u32: { number: 12, array: Uint32Array, dtype: 'u32' },
} as const;

interface Case {
  readonly op: string;
  readonly type: keyof typeof types;
  readonly inputs: readonly (readonly number[])[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly gives: readonly number[];
}

const { NaN: none, POSITIVE_INFINITY: inf } = Number;
/** The largest finite f32 number. */
const largest = 3.4028234663852886e38;

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
  'the magnitude of the least byte': { op: 'Abs', type: 'i8', inputs: [[-128, -5]], gives: [-128, 5] },
  'the least byte without its sign': { op: 'Neg', type: 'i8', inputs: [[-128, 5]], gives: [-128, -5] },
  'the magnitude of the least of 16 bits': {
    op: 'Abs',
    type: 'i16',
    inputs: [[-32768, 9]],
    gives: [-32768, 9],
  },
  'an integer or 0': { op: 'Relu', type: 'i32', inputs: [[70970445, -3]], gives: [70970445, 0] },
  'a byte or 0': { op: 'Relu', type: 'i8', inputs: [[127, -128]], gives: [127, 0] },
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
  'a sum of bytes beyond 8 bits': { op: 'Add', type: 'u8', inputs: [[250, 1], [7]], gives: [1, 8] },
  'a difference below 0': { op: 'Sub', type: 'u16', inputs: [[3, 9], [7]], gives: [65532, 2] },
  'a product beyond 8 bits': { op: 'Mul', type: 'i8', inputs: [[100, -3], [3]], gives: [44, -9] },
  'a sum beyond 16 bits': {
    op: 'Add',
    type: 'i16',
    inputs: [[20000, -20000], [20000]],
    gives: [-25536, 0],
  },
  'a product beyond 53 bits': {
    op: 'Mul',
    type: 'i32',
    inputs: [
      [2147483647, 123456789],
      [2147483647, 987654321],
    ],
    gives: [1, -67153019],
  },
  'a product of unsigned integers beyond 53 bits': {
    op: 'Mul',
    type: 'u32',
    inputs: [[4294967295], [4294967295]],
    gives: [1],
  },
  'unsigned integers between bounds beyond those of signed ones': {
    op: 'Clip',
    type: 'u32',
    inputs: [[5, 4294967295, 3000000000], [2147483653], [4294967290]],
    gives: [2147483653, 4294967290, 3000000000],
  },
  // As in onnxruntime, which rounds towards 0.
  'a mean of integers beyond 24 bits': {
    op: 'ReduceMean',
    type: 'i32',
    inputs: [[1000000007, 1000000008, 16777217]],
    gives: [672259077],
  },
  'a negative mean of integers': { op: 'ReduceMean', type: 'i8', inputs: [[-1, -2, -5]], gives: [-2] },
  'numbers between bounds that are not given': {
    op: 'Clip',
    type: 'f32',
    inputs: [[-inf, -1, inf, none]],
    gives: [-largest, -1, largest, none],
  },
  'a sum of magnitudes of integers': {
    op: 'ReduceL1',
    type: 'i32',
    inputs: [[-70970445, 4]],
    gives: [70970449],
  },
  'a sum of squares of integers': {
    op: 'ReduceSumSquare',
    type: 'i32',
    inputs: [[-8193, 3]],
    gives: [67125258],
  },
  'the sign of NaN': { op: 'Sign', type: 'f32', inputs: [[none, -2, 0, inf]], gives: [none, -1, 0, 1] },
};

test.each(
  Object.entries(cases).flatMap(([name, one]) =>
    (['fed', 'held'] as const).map(how => [name, how, one] as const),
  ),
)('%s, of a first input that is %s', async (_, how, { op, type, inputs, attributes = {}, gives }) => {
  const isFed = how === 'fed';
  const { number, array, dtype } = types[type];
  const values = inputs.map((list, n) => ({
    ...{ name: `x${n}`, type: number, shape: [list.length] },
    // Bounds are scalars.
    ...(op === 'Clip' && n > 0 && { shape: [] }),
    data: new Uint8Array(array.from(list).buffer),
  }));
  const bytes = encodeModel({
    ...{ name: op, opset: 18 },
    nodes: [{ op, name: op, inputs: values.map(({ name }) => name), outputs: ['y'], attributes }],
    initializers: values.slice(isFed ? 1 : 0),
    inputs: isFed ? values.slice(0, 1) : [],
    outputs: [{ name: 'y', type: number, shape: null }],
  });
  const [first = []] = inputs;
  const x0 = Tensor.from(first, [first.length], { dtype });
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

test.each([
  [-3e38, -inf],
  [2049, 2048],
  [0.1, 0.0999755859375],
])('the constant %f becomes %f as a 16-bit float', async (x, rounded) => {
  const half = { to: { int: 10 } };
  const bytes = encodeModel({
    ...{ name: 'half', opset: 18, inputs: [] },
    nodes: [
      { op: 'Cast', name: 'down', inputs: ['x'], outputs: ['h'], attributes: half },
      { op: 'Cast', name: 'up', inputs: ['h'], outputs: ['y'], attributes: { to: { int: 1 } } },
    ],
    initializers: [{ name: 'x', type: 1, shape: [], data: new Uint8Array(Float32Array.of(x).buffer) }],
    outputs: [{ name: 'y', type: 1, shape: null }],
  });
  const model = await fromOnnx(bytes);
  const { y } = await model.run(cpuEngine(), {});
  expect(Array.from(y?.toFloat64() ?? [])).toEqual([rounded]);
  model.release();
});

test('64-bit bounds that engines cannot represent do not clip', async () => {
  const bytes = encodeModel({
    ...{ name: 'clip', opset: 18 },
    nodes: [{ op: 'Clip', name: 'clip', inputs: ['x', 'low', 'high'], outputs: ['y'], attributes: {} }],
    inputs: [{ name: 'x', type: 7, shape: [2] }],
    initializers: [-(2n ** 63n), 2n ** 63n - 1n].map((bound, n) => ({
      ...{ name: n === 0 ? 'low' : 'high', type: 7, shape: [] },
      data: new Uint8Array(BigInt64Array.of(bound).buffer),
    })),
    outputs: [{ name: 'y', type: 7, shape: null }],
  });
  const model = await fromOnnx(bytes);
  const { y } = await model.run(cpuEngine(), { x: Tensor.from([-7, 9], [2], { dtype: 'i32' }) });
  expect(Array.from(y?.toFloat64() ?? [])).toEqual([-7, 9]);
  model.release();
});
