import { expect, test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { f32, i64, type OperatorCase, text } from '../../../../../../testing/onnx/operator-case.ts';

/** A Resize of an axis to the nearest elements at or before each position. */
const floored = (coordinates: string, from: number, to: number): OperatorCase => ({
  ...{ op: 'Resize', opset: 19 },
  inputs: [[1, 1, from], f32([]), f32([]), i64([1, 1, to])],
  attributes: { nearest_mode: text('floor'), coordinate_transformation_mode: text(coordinates) },
});

test.each([
  ['asymmetric', 14, 18],
  ['asymmetric', 18, 42],
  ['half_pixel', 7, 9],
])('positions that are whole numbers are not rounded down: %s, %i to %i', (coordinates, from, to) =>
  expectAsOnnxruntime(floored(coordinates, from, to)),
);

test.each<readonly [string, OperatorCase]>([
  [
    'between elements',
    {
      op: 'Upsample',
      opset: 9,
      inputs: [[1, 2, 2, 3], f32([1, 1, 2, 1.5])],
      attributes: { mode: text('linear') },
    },
  ],
  ['to the nearest elements', { op: 'Upsample', opset: 9, inputs: [[1, 1, 2, 3], f32([1, 1, 2, 3])] }],
])('Upsample %s is as in onnxruntime', async (_, one) => {
  await expect(expectAsOnnxruntime(one)).resolves.toBeUndefined();
});
