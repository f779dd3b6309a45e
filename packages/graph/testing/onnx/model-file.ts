import {
  bytesField,
  integerField,
  joined,
  messageField,
  stringField,
} from '../../src/formats/onnx/protobuf.ts';

/** The fields of a TensorProto with f32 numbers. */
export const weights = (name: string, shape: readonly number[], values: readonly number[]) => [
  ...shape.map(n => integerField(1, n)),
  integerField(2, 1),
  stringField(8, name),
  bytesField(9, new Uint8Array(Float32Array.from(values).buffer)),
];
/** The fields of a ValueInfoProto: the name, element type and shape of an input or output. */
export const value = (name: string, type: number, shape: readonly (number | string)[]) => [
  stringField(1, name),
  messageField(2, [
    messageField(1, [
      integerField(1, type),
      messageField(
        2,
        shape.map(n => messageField(1, [typeof n === 'string' ? stringField(2, n) : integerField(1, n)])),
      ),
    ]),
  ]),
];
/** The fields of a NodeProto whose name is its operator. */
export const node = (
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Uint8Array[] = [],
) => [
  ...inputs.map(name => stringField(1, name)),
  ...outputs.map(name => stringField(2, name)),
  stringField(3, `${op}_0`),
  stringField(4, op),
  ...attributes,
];
/** A model file from the fields of a GraphProto. */
export const model = (graph: readonly Uint8Array[], opset = 18): Uint8Array =>
  joined([
    integerField(1, 9),
    messageField(7, graph),
    messageField(8, [stringField(1, ''), integerField(2, opset)]),
  ]);

/** A list of i64 numbers as a weight of a graph. */
export const integers = (name: string, values: readonly number[]) =>
  messageField(5, [
    integerField(1, values.length),
    integerField(2, 7),
    ...values.map(n => integerField(7, n)),
    stringField(8, name),
  ]);

/** A model with one node that reads x f32 [2, 3] and produces y of the same shape. */
export const oneNode = (
  op: string,
  inputs: readonly string[] = ['x'],
  extra: readonly Uint8Array[] = [],
  attributes: Uint8Array[] = [],
) =>
  model([
    messageField(1, node(op, inputs, ['y'], attributes)),
    ...extra,
    messageField(11, value('x', 1, [2, 3])),
    messageField(12, value('y', 1, [2, 3])),
  ]);

/** x (n, 3) · w (3, 2), reshaped to (n·2) by arithmetic on the shape of x. */
export const openExtents = model([
  messageField(1, node('MatMul', ['x', 'w'], ['y'])),
  messageField(1, node('Shape', ['x'], ['s'])),
  messageField(
    1,
    node(
      'Gather',
      ['s', 'zero'],
      ['n'],
      [messageField(5, [stringField(1, 'axis'), integerField(3, 0), integerField(20, 2)])],
    ),
  ),
  messageField(1, node('Mul', ['n', 'two'], ['m'])),
  messageField(1, node('Reshape', ['y', 'm'], ['z'])),
  messageField(5, weights('w', [3, 2], [1, 2, 3, 4, 5, 6])),
  messageField(5, [integerField(1, 1), integerField(2, 7), integerField(7, 0), stringField(8, 'zero')]),
  messageField(5, [integerField(1, 1), integerField(2, 7), integerField(7, 2), stringField(8, 'two')]),
  messageField(11, value('x', 1, ['n', 3])),
  messageField(12, value('z', 1, ['m'])),
]);
