import { test } from 'vitest';
import { expectAsOnnxruntime } from '../../../../../../testing/onnx/expect-as-onnxruntime.ts';
import { f32, type OperatorCase } from '../../../../../../testing/onnx/operator-case.ts';

// T5 in f16 clips its hidden states to a bound that depends on whether one of them is infinite.
test.each<readonly [string, OperatorCase['inputs']]>([
  ['two bounds', [[2, 3], [], []]],
  ['one bound, and one that is known', [[2, 3], [], f32([1.2], [])]],
])('Clip with %s that the graph computes is as in onnxruntime', (_, inputs) =>
  expectAsOnnxruntime({ op: 'Clip', opset: 13, inputs }),
);
