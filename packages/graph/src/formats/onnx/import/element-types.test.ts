import { type DType, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { runOnnx } from '../../../../testing/compare/onnx-session.ts';
import { fromOnnx, tensorFromOnnx } from '../index.ts';
import { encodeModel, type OnnxAttribute } from '../model.ts';
import { bytesField, integerField, joined, stringField } from '../protobuf.ts';

const types = { f32: 1, u8: 2, i8: 3, i32: 6, bool: 9, f16: 10, u32: 12 } as const;
type Type = keyof typeof types;

/** A list of 64-bit integers in the model, or the shape of an input with the dtype of the case. */
interface Case {
  readonly op: string;
  readonly inputs: readonly ({ readonly i64: readonly number[] } | readonly number[])[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly outputs?: number;
}

const i64 = (...list: number[]) => ({ i64: list });
const int = (value: number): OnnxAttribute => ({ int: value });

/** Operators that move elements. */
const cases: readonly Case[] = [
  {
    op: 'Concat',
    inputs: [
      [2, 3],
      [2, 2],
    ],
    attributes: { axis: int(1) },
  },
  { op: 'Expand', inputs: [[2, 1], i64(3, 2, 4)] },
  { op: 'Gather', inputs: [[4, 3], i64(2, 0, 2)] },
  { op: 'GatherND', inputs: [[4, 3], i64(2)] },
  { op: 'Pad', inputs: [[2, 3], i64(1, 0, 0, 2)] },
  { op: 'Pad', inputs: [[2, 3], i64(1, 0, 0, 2)], attributes: { mode: { string: 'edge' } } },
  { op: 'Slice', inputs: [[4, 3], i64(1), i64(3)] },
  { op: 'Split', inputs: [[4, 3], i64(1, 3)], outputs: 2 },
  { op: 'Tile', inputs: [[2, 3], i64(2, 1)] },
  { op: 'Transpose', inputs: [[2, 3]] },
];

const dtypes: readonly Type[] = ['u8', 'i8', 'i32', 'u32', 'bool', 'f16'];

test.each(cases.flatMap(one => dtypes.map(dtype => [one.op, dtype, one] as const)))(
  '%s moves elements of %s as onnxruntime does',
  async (_, dtype, { op, inputs, attributes = {}, outputs = 1 }) => {
    const drawn = (shape: readonly number[]): Tensor => {
      const count = shape.reduce((n, extent) => n * extent, 1);
      const numbers = Float64Array.from({ length: count }, (_, n) =>
        dtype === 'bool' ? n % 2 : (7 * n) % 101,
      );
      return Tensor.from(numbers, shape, { dtype: dtype as DType });
    };
    const feeds = Object.fromEntries(
      inputs.flatMap((given, n) => ('i64' in given ? [] : [[`x${n}`, drawn(given)] as const])),
    );
    const results = Array.from({ length: outputs }, (_, n) => `y${n}`);
    const bytes = encodeModel({
      ...{ name: op, opset: 13 },
      nodes: [{ op, name: op, inputs: inputs.map((_, n) => `x${n}`), outputs: results, attributes }],
      initializers: inputs.flatMap((given, n) =>
        'i64' in given
          ? [
              {
                ...{ name: `x${n}`, type: 7, shape: [given.i64.length] },
                data: new Uint8Array(BigInt64Array.from(given.i64, BigInt).buffer),
              },
            ]
          : [],
      ),
      inputs: Object.entries(feeds).map(([name, { shape }]) => ({ name, type: types[dtype], shape })),
      outputs: results.map(name => ({ name, type: types[dtype], shape: null })),
    });
    const wanted = await runOnnx(bytes, feeds);
    const model = await fromOnnx(bytes);
    const got = await model.run(cpuEngine(), feeds);
    for (const name of results) {
      expect(got[name]?.shape).toEqual(wanted[name]?.shape);
      expect(Array.from(got[name]?.toFloat64() ?? [])).toEqual(Array.from(wanted[name]?.toFloat64() ?? []));
    }
    model.release();
  },
);

const F8 = 17;

test('8-bit floats are reshaped from four dimensions to three', async () => {
  const bytes = encodeModel({
    ...{ name: 'reshape', opset: 21 },
    nodes: [{ op: 'Reshape', name: 'reshape', inputs: ['x', 'shape'], outputs: ['y'], attributes: {} }],
    initializers: [
      { name: 'shape', type: 7, shape: [3], data: new Uint8Array(BigInt64Array.of(2n, 1n, 2n).buffer) },
    ],
    inputs: [{ name: 'x', type: F8, shape: [1, 2, 1, 2] }],
    outputs: [{ name: 'y', type: F8, shape: [2, 1, 2] }],
  });
  const model = await fromOnnx(bytes);
  const x = Tensor.from([1, -2, 0.5, 448], [1, 2, 1, 2], { dtype: 'f8e4m3' });
  const { y } = await model.run(cpuEngine(), { x });
  expect(y?.shape).toEqual([2, 1, 2]);
  expect(Array.from(y?.toFloat64() ?? [])).toEqual([1, -2, 0.5, 448]);
  model.release();
});

test.each(['Cast', 'CastLike', 'QuantizeLinear'])('%s without saturating is refused', async op => {
  const tensor = (name: string, type: number, data: ArrayBufferView) => ({
    ...{ name, type, shape: [] },
    data: new Uint8Array(data.buffer),
  });
  const others = { Cast: [], CastLike: ['like'], QuantizeLinear: ['scale', 'like'] }[op] ?? [];
  const bytes = encodeModel({
    ...{ name: op, opset: 19 },
    nodes: [
      {
        ...{ op, name: op, inputs: ['x', ...others], outputs: ['y'] },
        attributes: { ...(op === 'Cast' && { to: int(F8) }), saturate: int(0) },
      },
    ],
    initializers: [tensor('like', F8, Uint8Array.of(0)), tensor('scale', types.f32, Float32Array.of(1))],
    inputs: [{ name: 'x', type: types.f32, shape: [2] }],
    outputs: [{ name: 'y', type: F8, shape: [2] }],
  });
  const model = await fromOnnx(bytes);
  expect(() => model.graph()).toThrow('casts to float8e4m3fn without saturating');
});

const [U16, I16, U4, I4, U2, I2] = [4, 5, 21, 22, 25, 26];

// https://onnx.ai/onnx/operators/onnx__Cast.html: integers out of a type's range lose their higher bits.
test.each([
  [U4, types.f32, [-9, 7.9, 20, -0.5], [7, 7, 4, 0]],
  [I4, types.f32, [-9, 7.9, 20, -0.5], [7, 7, 4, 0]],
  [U2, types.i32, [-1, 2, 5, -8], [3, 2, 1, 0]],
  [I2, types.i32, [-1, 2, 5, -8], [-1, -2, 1, 0]],
  [types.u8, types.i32, [-1, 300, 70000, 255], [255, 44, 112, 255]],
  [types.i8, types.u8, [200, 127, 128, 0], [-56, 127, -128, 0]],
  [U16, types.i8, [-5, 100, -128, 0], [65531, 100, 65408, 0]],
  [I16, types.i32, [40000, -40000, 32767, -1], [-25536, 25536, 32767, -1]],
])('Cast to the type %i from %i keeps the lower bits', async (to, from, given, wanted) => {
  const dtype = Object.entries(types).find(([, type]) => type === from)?.[0] as DType;
  const bytes = encodeModel({
    ...{ name: 'Cast', opset: 25, initializers: [] },
    nodes: [{ op: 'Cast', name: 'Cast', inputs: ['x'], outputs: ['y'], attributes: { to: int(to) } }],
    inputs: [{ name: 'x', type: from, shape: [4] }],
    outputs: [{ name: 'y', type: to, shape: [4] }],
  });
  const model = await fromOnnx(bytes);
  const { y } = await model.run(cpuEngine(), { x: Tensor.from(given, [4], { dtype }) });
  expect(Array.from(y?.toFloat64() ?? [])).toEqual(wanted);
  model.release();
});

test('elements of 2 and 4 bits are read from bytes and from numbers', async () => {
  const wanted = [1, -2, -1, 0, 1];
  const files = [
    [I2, 9, [0b00_11_10_01, 0b01]],
    [I2, 5, [0b00_11_10_01, 0b01]],
    [I4, 9, [0b1110_0001, 0b0000_1111, 0b0001]],
    [I4, 5, [0b1110_0001, 0b0000_1111, 0b0001]],
  ] as const;
  for (const [type, field, data] of files) {
    const fields = [integerField(1, 5), integerField(2, type), stringField(8, 'x')];
    const elements = field === 9 ? [bytesField(9, Uint8Array.from(data))] : data.map(n => integerField(5, n));
    const { tensor } = tensorFromOnnx(joined([...fields, ...elements]));
    expect(Array.from(tensor.toFloat64())).toEqual(wanted);
  }
});
