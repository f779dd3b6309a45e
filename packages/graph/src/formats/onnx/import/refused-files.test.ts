import { TilewiseError } from '@tilewise/core';
import { processorTime } from '@tilewise/test-data';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../../testing/attention/attention-graph.ts';
import {
  integers,
  model,
  node,
  oneNode,
  openExtents,
  value,
  weights,
} from '../../../../testing/onnx/model-file.ts';
import { ints, modelOf } from '../../../../testing/onnx/operator-case.ts';
import { Choices } from '../../../../testing/random/choices.ts';
import { fromOnnx, tensorFromOnnx, toOnnx } from '../index.ts';
import { bytesField, floatField, integerField, joined, messageField, stringField } from '../protobuf.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('an invalid file', () => {
  test.each([
    ['is empty', new Uint8Array(0), 'the empty file is not a complete ONNX model: it has no graph'],
    [
      'ends early',
      openExtents.subarray(0, 200),
      /is not a complete ONNX model: it ends early: a field takes \d+ bytes, \d+ are left/,
    ],
    [
      'is text',
      bytesOf('ONNX is not text'),
      'the file, which starts with "ONNX is not text", is not a complete ONNX model',
    ],
    ['is JSON', bytesOf('{"a": [1]}'), String.raw`"{\"a\": [1]}", is not a complete ONNX model`],
    [
      'is a file of safetensors',
      Uint8Array.of(8, 0, 0, 0, 0, 0, 0, 0, ...bytesOf('{}      ')),
      'is not a complete ONNX model: it has a field with the number 0',
    ],
    [
      'is a zip archive',
      Uint8Array.of(...bytesOf('PK'), 3, 4, 20, 0, 0, 0),
      String.raw`"PK\u0003\u0004\u0014\u0000\u0000\u0000", is not a complete ONNX model`,
    ],
    [
      'is a tensor',
      joined([integerField(1, 1), integerField(2, 1)]),
      'is not a complete ONNX model: it has no graph',
    ],
    [
      'has fewer numbers than its shape says',
      model([messageField(5, weights('w', [3, 2], [1, 2, 3]))]),
      "('w') has 12 bytes of data, its shape [3,2] of float takes 24",
    ],
    ['has a negative extent', model([messageField(5, weights('w', [-3], []))]), "('w') has an extent of -3"],
    [
      'is larger than any memory',
      model([messageField(5, weights('w', [2 ** 40], []))]),
      "('w') has 1099511627776 elements, more than",
    ],
  ])('%s: is refused by name', async (_, bytes, message) => {
    await expect(fromOnnx(bytes)).rejects.toThrow(message);
    await expect(fromOnnx(bytes)).rejects.toBeInstanceOf(TilewiseError);
  });

  test.each(['Add', 'Div', 'Mod', 'Pow', 'Less', 'And', 'Where'])(
    '%s of known numbers that lacks an input names the input',
    async operator => {
      const known = messageField(5, weights('w', [2, 3], [1, 2, 3, 4, 5, 6]));
      const read = await fromOnnx(oneNode(operator, ['w'], [known]));
      expect(() => read.graph()).toThrow(`${operator} '${operator}_0': needs its input 1`);
    },
  );

  test.each([
    [
      'an operator that is not supported',
      oneNode('NonMaxSuppression'),
      "NonMaxSuppression 'NonMaxSuppression_0': is not supported",
    ],
    [
      'a value that nothing gives',
      oneNode('Add', ['x', 'later']),
      "Add 'Add_0' reads 'later', which no earlier node produces",
    ],
    ['a cycle', oneNode('Add', ['x', 'y']), "reads 'y', which no earlier node produces"],
    ['a missing input', oneNode('MatMul'), "MatMul 'MatMul_0': needs its input 1"],
  ])('%s: names node and operator', async (_, bytes, message) => {
    const read = await fromOnnx(bytes);
    expect(() => read.graph()).toThrow(message);
    expect(() => read.graph()).toThrow(TilewiseError);
  });

  test.each([
    ['strides', ints(2)],
    ['dilations', ints(1, 1, 1)],
    ['pads', ints(0, 0, 1)],
  ])('a convolution with too few or too many %s is refused', async (name, list) => {
    const inputs = [
      [1, 1, 4, 4],
      [1, 1, 2, 2],
    ];
    const read = await fromOnnx(modelOf({ op: 'Conv', opset: 18, inputs, attributes: { [name]: list } }));
    expect(() => read.graph()).toThrow(TilewiseError);
  });

  test('a number that does not fit in 32 bits is refused, not wrapped', () => {
    const tensor = joined([
      integerField(1, 1),
      integerField(2, 7),
      bytesField(9, new Uint8Array(BigInt64Array.of(2n ** 40n).buffer)),
      stringField(8, 'big'),
    ]);
    expect(() => tensorFromOnnx(tensor)).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED',
        message: "ONNX file: 'big' contains 1099511627776, which does not fit in i32",
      }),
    );
  });

  test('a float where an integer belongs is refused', async () => {
    const wrong = model([
      messageField(
        1,
        node(
          'Softmax',
          ['x'],
          ['y'],
          [messageField(5, [stringField(1, 'axis'), floatField(2, 1), integerField(20, 1)])],
        ),
      ),
      messageField(11, value('x', 1, [2, 3])),
      messageField(12, value('y', 1, [2, 3])),
    ]);
    const read = await fromOnnx(wrong);
    expect(() => read.graph()).toThrow("attribute 'axis' must be int, got float");
  });
});

const text = (name: string, value: string): Uint8Array[] => [
  messageField(5, [stringField(1, name), stringField(4, value), integerField(20, 3)]),
];

test.each([
  [
    'Tile by a negative count',
    oneNode('Tile', ['x', 'r'], [integers('r', [-1, 1])]),
    'cannot repeat [2,3] by [-1,1]',
  ],
  [
    'Pad by edges beyond any memory',
    oneNode('Pad', ['x', 'p'], [integers('p', [0, 2 ** 40, 0, 0])], text('mode', 'edge')),
    'elements; only 0 to 16777216 can be computed while a model is read',
  ],
  [
    'Pad that removes more than there is',
    oneNode('Pad', ['x', 'p'], [integers('p', [0, -4, 0, 0])], text('mode', 'reflect')),
    'a constant of shape [-1] has -1 elements',
  ],
  [
    'OneHot beyond any memory',
    oneNode('OneHot', ['x', 'd', 'v'], [integers('d', [10 ** 9]), integers('v', [0, 1])]),
    'elements; only 0 to 16777216 can be computed while a model is read',
  ],
  [
    'OneHot of a negative depth',
    oneNode('OneHot', ['x', 'd', 'v'], [integers('d', [-1]), integers('v', [0, 1])]),
    'has -1 elements',
  ],
  [
    'Einsum with a result along a letter that no input has',
    oneNode('Einsum', ['x'], [], text('equation', 'ij->iz')),
    "has 'z' in its result, but in no input",
  ],
  ['Tile by 0', oneNode('Tile', ['x', 'r'], [integers('r', [0, 1])]), 'repeats by [0,1]'],
  [
    'Range beyond any memory',
    model([
      messageField(1, node('Range', ['a', 'b', 'c'], ['y'])),
      messageField(5, [integerField(2, 7), integerField(7, 0), stringField(8, 'a')]),
      messageField(5, [integerField(2, 7), integerField(7, 2 ** 40), stringField(8, 'b')]),
      messageField(5, [integerField(2, 7), integerField(7, 1), stringField(8, 'c')]),
      messageField(12, value('y', 7, ['n'])),
    ]),
    'elements; only 0 to 16777216 can be computed while a model is read',
  ],
  [
    'an axis that ONNX does not check',
    oneNode('TopK', ['x', 'k'], [integers('k', [7])]),
    'k must be 0 to 3, the elements along axis 1, got 7',
  ],
  [
    'Resize of no elements to some',
    oneNode('Resize', ['e', '', '', 's'], [messageField(5, weights('e', [2, 0], [])), integers('s', [2, 3])]),
    'reads from an empty axis',
  ],
])('%s is refused by the name of the operator', async (_, bytes, message) => {
  const read = await fromOnnx(bytes);
  expect(() => read.graph()).toThrow(message);
  expect(() => read.graph()).toThrow(/^operation (\w+) '\1_0': /);
  expect(() => read.graph()).toThrow(TilewiseError);
});

test('cumulative sums of many known numbers are left to the engine, because they take quadratic time', async () => {
  const ones = integers('ones', new Array(100_000).fill(1));
  const read = await fromOnnx(oneNode('CumSum', ['ones', 'axis'], [ones, integers('axis', [0])]));
  const started = processorTime();
  const { graph } = read.graph();
  expect(processorTime() - started).toBeLessThan(1000);
  expect(graph.nodes.map(({ kind }) => kind)).toContain('CumSum');
});

test('the weights of a resized axis of a million elements are computed within a second', async () => {
  const read = await fromOnnx(
    oneNode('Resize', ['x', '', '', 'sizes'], [integers('sizes', [2, 2 ** 20])], text('mode', 'linear')),
  );
  const started = processorTime();
  read.graph();
  expect(processorTime() - started).toBeLessThan(1000);
});

const { seed, count, timeout } = fuzzRun(500);

test(`${count} mutated files of seed ${seed} give a typed error or a graph, each within a second`, {
  timeout,
}, async () => {
  const attention = new GraphBuilder();
  const [q, k, v] = [
    [1, 2, 4, 8],
    [1, 2, 6, 8],
    [1, 2, 6, 8],
  ].map(shape => attention.input(shape));
  const scores = attention.op('MatMul', [q, k], { transpose_b: true });
  const P = attention.op('SoftMax', [attention.op('Multiply', [scores, attention.scalar(0.3)])], {
    axis: -1,
  });
  attention.op('MatMul', [P, v]);
  const files = [openExtents, toOnnx(attention.graph)];
  const choose = new Choices(seed);
  const next = (): number => choose.below(2 ** 31);
  let built = 0;
  for (let n = 0; n < count; n++) {
    const original = files[n % files.length] ?? openExtents;
    let bytes = Uint8Array.from(original);
    for (let m = next() % 3; m >= 0; m--) {
      const at = next() % bytes.length;
      if (next() % 8 === 0) bytes = bytes.slice(0, at + 1);
      else bytes[at] = next() % 3 === 0 ? 255 : next() & 255;
    }
    const started = processorTime();
    try {
      const read = await fromOnnx(bytes);
      const isOpen = read.inputs.some(({ name }) => name === 'x');
      read.graph({ shapes: isOpen ? { x: [2, 3] } : {} });
      built += 1;
    } catch (error) {
      expect(error, `mutation ${n}: ${error}`).toBeInstanceOf(TilewiseError);
    }
    expect(processorTime() - started).toBeLessThan(1000);
  }
  // About one file in 25 can still be read.
  expect(built).toBeGreaterThan(count / 100);
});
