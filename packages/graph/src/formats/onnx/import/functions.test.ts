import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { runOnnx } from '../../../../testing/compare/onnx-session.ts';
import { value } from '../../../../testing/onnx/model-file.ts';
import { fromOnnx } from '../index.ts';
import { floatField, integerField, joined, messageField, stringField } from '../protobuf.ts';

const own = 'pkg.example';
const opset = (domain: string, version: number) => [stringField(1, domain), integerField(2, version)];
/** A node with the name of its output. */
const node = (
  op: string,
  inputs: readonly string[],
  output: string,
  attributes: readonly Uint8Array[] = [],
): Uint8Array[] => [
  ...inputs.map(name => stringField(1, name)),
  ...[stringField(2, output), stringField(3, output), stringField(4, op), ...attributes],
];
/** A call of a function. */
const callOf = (name: string, inputs: readonly string[], output: string, attributes: Uint8Array[] = []) =>
  node(name, inputs, output, [stringField(7, own), ...attributes]);
const reference = (name: string, to: string) =>
  messageField(5, [stringField(1, name), stringField(21, to), integerField(20, 1)]);
const float = (field: number, name: string, x: number) =>
  messageField(field, [stringField(1, name), floatField(2, x), integerField(20, 1)]);
const functionOf = (name: string, nodes: readonly Uint8Array[][], ...more: Uint8Array[]) =>
  messageField(25, [
    ...[stringField(1, name), stringField(4, 'x'), stringField(4, 'y'), stringField(5, 'r')],
    ...nodes.map(one => messageField(7, one)),
    ...[messageField(9, opset('', 18)), messageField(9, opset(own, 1)), stringField(10, own), ...more],
  ]);
const modelOf = (calls: readonly Uint8Array[][], functions: readonly Uint8Array[]) =>
  joined([
    integerField(1, 9),
    messageField(7, [
      ...calls.map(one => messageField(1, one)),
      stringField(2, 'graph'),
      messageField(11, value('a', 1, [3])),
      messageField(11, value('b', 1, [3])),
      messageField(12, value('z', 1, [3])),
    ]),
    ...functions,
    messageField(8, opset('', 18)),
    messageField(8, opset(own, 1)),
  ]);

/** r = LeakyRelu(x) − y with the slope of the attribute `slope`, which is 0.5 if a call does not give it. */
const leaky = functionOf(
  'Leaky',
  [node('LeakyRelu', ['x'], 't', [reference('alpha', 'slope')]), node('Sub', ['t', 'y'], 'r')],
  float(11, 'slope', 0.5),
);
/** r = Leaky(y, x) · x, which uses the names of Leaky again. */
const nested = functionOf('Nested', [callOf('Leaky', ['y', 'x'], 't'), node('Mul', ['t', 'x'], 'r')]);

test('functions of the file are operators, with names of their own and attributes of each call', async () => {
  const bytes = modelOf(
    [
      callOf('Leaky', ['a', 'b'], 't', [float(5, 'slope', 0.25)]),
      callOf('Nested', ['t', 'b'], 'u'),
      callOf('Leaky', ['u', 'a'], 'z'),
    ],
    [leaky, nested],
  );
  const feeds = { a: Tensor.from([-1, 2, -3], [3]), b: Tensor.from([4, -5, -6], [3]) };
  const model = await fromOnnx(bytes);
  const { z } = await model.run(cpuEngine(), feeds);
  const expected = await runOnnx(bytes, feeds);
  expect(Array.from(z?.toFloat32() ?? [])).toEqual(Array.from(expected.z?.toFloat32() ?? []));
  model.release();
});

test('a function that calls itself is refused', async () => {
  const endless = functionOf('Endless', [callOf('Endless', ['x', 'y'], 'r')]);
  const model = await fromOnnx(modelOf([callOf('Endless', ['a', 'b'], 'z')], [endless]));
  expect(() => model.graph()).toThrow('functions in more than 32 others');
});
