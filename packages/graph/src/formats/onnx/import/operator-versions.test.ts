import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../testing/onnx/expect-as-onnxruntime.ts';
import {
  elementTypes,
  f32,
  float,
  i64,
  int,
  ints,
  modelOf,
  type OperatorCase,
  text,
  u8,
} from '../../../../testing/onnx/operator-case.ts';
import { fromOnnx } from '../index.ts';
import type { OnnxAttribute } from '../model.ts';

const { F32, U8, I32, I64, BOOL } = elementTypes;

/** A Resize by scales, or else to sizes. */
const resized = (
  opset: number,
  attributes: Readonly<Record<string, OnnxAttribute>>,
  { scales = [], sizes, shape = [1, 2, 5, 4] }: { scales?: number[]; sizes?: number[]; shape?: number[] },
): OperatorCase => ({
  ...{ op: 'Resize', opset, attributes },
  inputs: [shape, ...(opset < 11 ? [] : [f32([])]), f32(scales), ...(sizes ? [i64(sizes)] : [])],
});
const coordinates = ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric'];

/** Operators in the forms of different versions: attributes that became inputs, and defaults that changed. */
const cases: readonly OperatorCase[] = [
  ...[11, 12, 13, 18].map(opset => ({ op: 'Softmax', opset, inputs: [[2, 3, 4]] })),
  ...[11, 13].map(opset => ({ op: 'LogSoftmax', opset, inputs: [[2, 3, 4]], attributes: { axis: int(1) } })),
  { op: 'Softmax', opset: 11, inputs: [[2, 3, 4]], attributes: { axis: int(-2) } },
  ...[
    'ReduceSum',
    'ReduceMean',
    'ReduceMax',
    'ReduceMin',
    'ReduceL1',
    'ReduceL2',
    'ReduceProd',
    'ReduceSumSquare',
    'ReduceLogSumExp',
  ].flatMap(op => [
    { op, opset: 11, inputs: [[2, 3, 4]], attributes: { axes: ints(1, -1) } },
    { op, opset: 11, inputs: [[2, 3, 4]], attributes: { keepdims: int(0) } },
    { op, opset: 18, inputs: [[2, 3, 4], i64([-2])] },
    { op, opset: 18, inputs: [[2, 3, 4]], attributes: { noop_with_empty_axes: int(0) } },
    { op, opset: 18, inputs: [[2, 3, 4]], attributes: { noop_with_empty_axes: int(1) } },
  ]),
  { op: 'ReduceSum', opset: 13, inputs: [[2, 3, 4], i64([0])] },
  { op: 'ReduceMean', opset: 13, inputs: [[2, 3, 4]], attributes: { axes: ints(-1) } },
  { op: 'Squeeze', opset: 11, inputs: [[1, 3, 1]], attributes: { axes: ints(0) } },
  { op: 'Squeeze', opset: 13, inputs: [[1, 3, 1], i64([-1])] },
  { op: 'Squeeze', opset: 13, inputs: [[1, 3, 1]] },
  { op: 'Unsqueeze', opset: 11, inputs: [[3, 4]], attributes: { axes: ints(0, 3) } },
  { op: 'Unsqueeze', opset: 13, inputs: [[3, 4], i64([-1, 1])] },
  { op: 'Clip', opset: 6, inputs: [[2, 3]], attributes: { min: float(-0.2), max: float(0.3) } },
  { op: 'Clip', opset: 11, inputs: [[2, 3], f32([-0.2], [])] },
  { op: 'Dropout', opset: 7, inputs: [[2, 3]], attributes: { ratio: float(0.4) } },
  { op: 'Dropout', opset: 13, inputs: [[2, 3]], types: [F32, BOOL] },
  { op: 'Pad', opset: 2, inputs: [[2, 3]], attributes: { pads: ints(0, 1, 2, 0), value: float(2) } },
  { op: 'Pad', opset: 11, inputs: [[2, 3], i64([1, -1, 0, 2]), f32([0.5], [])] },
  { op: 'Pad', opset: 18, inputs: [[2, 3], i64([1, 2]), f32([0.5], []), i64([-1])] },
  { op: 'Pad', opset: 13, inputs: [[3, 4], i64([1, 2, 0, 1])], attributes: { mode: text('reflect') } },
  { op: 'Pad', opset: 13, inputs: [[3, 4], i64([1, 2, 0, 1])], attributes: { mode: text('edge') } },
  { op: 'Slice', opset: 9, inputs: [[4, 5]], attributes: { starts: ints(1, -3), ends: ints(9, -1) } },
  { op: 'Slice', opset: 9, inputs: [[4, 5]], attributes: { starts: ints(1), ends: ints(3), axes: ints(1) } },
  { op: 'Slice', opset: 13, inputs: [[4, 5], i64([-1, 4]), i64([-9, 0]), i64([0, 1]), i64([-1, -2])] },
  { op: 'TopK', opset: 9, inputs: [[3, 5]], attributes: { k: int(2) }, types: [F32, I64] },
  {
    op: 'TopK',
    opset: 11,
    inputs: [[3, 5], i64([2])],
    attributes: { largest: int(0), axis: int(0) },
    types: [F32, I64],
  },
  {
    op: 'Split',
    opset: 11,
    inputs: [[4, 6]],
    attributes: { axis: int(1), split: ints(2, 4) },
    types: [F32, F32],
  },
  { op: 'Split', opset: 13, inputs: [[4, 6], i64([1, 3])], types: [F32, F32] },
  { op: 'Split', opset: 18, inputs: [[5, 6]], attributes: { num_outputs: int(2) }, types: [F32, F32] },
  { op: 'Reshape', opset: 5, inputs: [[2, 6], i64([0, -1, 3])] },
  { op: 'Reshape', opset: 14, inputs: [[0, 3], i64([3, 0])], attributes: { allowzero: int(1) } },
  {
    op: 'Gemm',
    opset: 7,
    inputs: [[3, 2], [3, 4], [4]],
    attributes: { transA: int(1), alpha: float(0.5), beta: float(2) },
  },
  {
    op: 'Gemm',
    opset: 13,
    inputs: [
      [2, 3],
      [4, 3],
    ],
    attributes: { transB: int(1) },
  },
  { op: 'Flatten', opset: 11, inputs: [[2, 3, 4]], attributes: { axis: int(-1) } },
  {
    op: 'Concat',
    opset: 11,
    inputs: [
      [2, 3],
      [2, 1],
    ],
    attributes: { axis: int(-1) },
  },
  {
    op: 'Concat',
    opset: 13,
    inputs: [
      [0, 3],
      [0, 3],
    ],
    attributes: { axis: int(0) },
  },
  { op: 'Gather', opset: 11, inputs: [[4, 3], i64([-1, 0])], attributes: { axis: int(0) } },
  { op: 'GatherND', opset: 12, inputs: [[2, 3, 4], i64([1, -1])], attributes: { batch_dims: int(0) } },
  {
    op: 'ArgMax',
    opset: 12,
    inputs: [[3, 4]],
    attributes: { axis: int(-1), select_last_index: int(1) },
    types: [I64],
  },
  { op: 'ArgMin', opset: 13, inputs: [[3, 4]], attributes: { keepdims: int(0) }, types: [I64] },
  {
    op: 'CumSum',
    opset: 14,
    inputs: [[3, 4], i64([1], [])],
    attributes: { exclusive: int(1), reverse: int(1) },
  },
  {
    op: 'BatchNormalization',
    opset: 9,
    inputs: [[2, 3, 4], f32([1, 2, 3]), f32([0, 1, 2]), f32([0.1, 0.2, 0.3]), f32([1, 2, 3])],
  },
  {
    op: 'BatchNormalization',
    opset: 15,
    inputs: [[5], f32([2]), f32([1]), f32([0.1]), f32([3])],
  },
  { op: 'InstanceNormalization', opset: 6, inputs: [[2, 3, 4], f32([1, 2, 3]), f32([0, 1, 2])] },
  { op: 'LayerNormalization', opset: 17, inputs: [[2, 3, 4], f32([1, 2, 3, 4])] },
  ...[
    'Selu',
    'Celu',
    'Softsign',
    'ThresholdedRelu',
    'Sign',
    'Elu',
    'HardSigmoid',
    'LeakyRelu',
    'Floor',
    'Ceil',
    'Round',
    'Erf',
  ].map(op => ({ op, opset: 13, inputs: [[3, 4]] })),
  { op: 'PRelu', opset: 9, inputs: [[2, 3], f32([0.1, 0.2, 0.3])] },
  {
    op: 'Mod',
    opset: 13,
    inputs: [
      [3, 4],
      [3, 4],
    ],
    attributes: { fmod: int(1) },
  },
  {
    op: 'Einsum',
    opset: 12,
    inputs: [
      [2, 3, 4],
      [5, 4],
    ],
    attributes: { equation: text('...d,ed->...e') },
  },
  { op: 'Einsum', opset: 12, inputs: [[3, 4], [4]], attributes: { equation: text('ij,j') } },
  { op: 'Einsum', opset: 12, inputs: [[3, 4]], attributes: { equation: text('ij->j') } },
  {
    op: 'ScatterElements',
    opset: 16,
    inputs: [[3, 3], i64([1, 0, 2], [1, 3]), f32([1, 2, 3], [1, 3])],
    attributes: { reduction: text('add') },
  },
  { op: 'OneHot', opset: 11, inputs: [i64([1, -1, 0]), i64([3], []), f32([2, 5])] },
  { op: 'Trilu', opset: 14, inputs: [[3, 4], i64([1], [])], attributes: { upper: int(0) } },
  {
    op: 'MatMulInteger',
    opset: 10,
    inputs: [u8([1, 2, 3, 250, 5, 6], [2, 3]), u8([7, 8, 9, 10, 11, 255], [3, 2]), u8([3], [])],
    types: [I32],
  },
  ...coordinates.flatMap(mode => [
    resized(
      13,
      { coordinate_transformation_mode: text(mode), nearest_mode: text('floor') },
      { sizes: [1, 2, 3, 9] },
    ),
    ...['linear', 'cubic'].flatMap(kind => [
      resized(
        13,
        { coordinate_transformation_mode: text(mode), mode: text(kind) },
        { scales: [1, 1, 0.6, 1.7] },
      ),
      resized(18, { coordinate_transformation_mode: text(mode), mode: text(kind) }, { sizes: [1, 2, 1, 9] }),
    ]),
  ]),
  ...['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'].map(mode =>
    resized(11, { nearest_mode: text(mode) }, { scales: [1, 1, 2, 0.5] }),
  ),
  ...['nearest', 'linear'].flatMap(mode => [
    resized(10, { mode: text(mode) }, { scales: [1, 1, 2, 1.5] }),
    resized(10, { mode: text(mode) }, { scales: [1, 1, 0.6, 0.5] }),
  ]),
  resized(
    11,
    { coordinate_transformation_mode: text('tf_half_pixel_for_nn'), nearest_mode: text('floor') },
    { scales: [1, 1, 2, 0.5] },
  ),
  ...['not_larger', 'not_smaller'].flatMap(policy =>
    ['nearest', 'linear'].map(mode =>
      resized(
        18,
        { axes: ints(2, 3), keep_aspect_ratio_policy: text(policy), mode: text(mode) },
        { sizes: [7, 8] },
      ),
    ),
  ),
  resized(
    13,
    { mode: text('cubic'), cubic_coeff_a: float(-0.5), exclude_outside: int(1) },
    { scales: [1, 1, 0.8, 2] },
  ),
  resized(18, { mode: text('linear'), antialias: int(1) }, { scales: [1, 1, 0.6, 0.5] }),
  resized(18, { mode: text('cubic'), antialias: int(1) }, { sizes: [1, 2, 3, 2] }),
  resized(
    19,
    { coordinate_transformation_mode: text('half_pixel_symmetric'), mode: text('linear') },
    { scales: [1, 1, 0.7, 2.3] },
  ),
  resized(18, { axes: ints(2, -1), mode: text('linear') }, { sizes: [7, 8] }),
  { op: 'DynamicQuantizeLinear', opset: 11, inputs: [[3, 4]], types: [U8, F32, U8] },
  {
    op: 'FusedGemm',
    opset: 13,
    domain: 'com.microsoft',
    inputs: [[2, 3], [3, 4], [4]],
    attributes: { activation: text('Relu') },
  },
];

test.each(cases.map((one, n) => [`${one.op} ${one.opset}, case ${n}`, one] as const))(
  '%s is as in onnxruntime',
  (_, one) => expectAsOnnxruntime(one),
);

test('PRelu before version 7 has a slope for each channel', async () => {
  const bytes = modelOf({ op: 'PRelu', opset: 6, inputs: [[1, 2, 2], f32([0.5, 2])] });
  const model = await fromOnnx(bytes);
  const { y0 } = await model.run(cpuEngine(), { x0: Tensor.from([-2, 1, -3, 4], [1, 2, 2]) });
  expect(Array.from(y0?.toFloat64() ?? [])).toEqual([-1, 1, -6, 4]);
  model.release();
});

test('BatchNormalization with numbers for each element is refused', async () => {
  const learned = [1, 2, 3, 4].map(() => f32([1, 2, 3, 4], [2, 2]));
  const attributes = { spatial: int(0) };
  const model = await fromOnnx(
    modelOf({ op: 'BatchNormalization', opset: 7, inputs: [[1, 2, 2], ...learned], attributes }),
  );
  expect(() => model.graph()).toThrow("has 'spatial' = 0");
});
