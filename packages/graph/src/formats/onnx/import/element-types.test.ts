import { type DType, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { runOnnx } from '../../../../testing/compare/onnx-session.ts';
import { fromOnnx } from '../index.ts';
import { encodeModel, type OnnxAttribute } from '../model.ts';

const types = { f32: 1, u8: 2, i8: 3, i32: 6, bool: 9, f16: 10, u32: 12 } as const;
type Type = keyof typeof types;

/** A list of 64-bit integers that the model holds, or the shape of an input in the dtype of the case. */
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
