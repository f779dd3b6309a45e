import { Tensor, TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { processorTime } from '@tilewise/test-data';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../../testing/attention/attention-graph.ts';
import { runOnnx } from '../../../../testing/compare/onnx-session.ts';
import { Choices } from '../../../../testing/random/choices.ts';
import { fromOnnx, tensorFromOnnx, toOnnx } from '../index.ts';
import { bytesField, floatField, integerField, joined, messageField, stringField } from '../protobuf.ts';

/** A tensor of f32 as onnx.proto has it. */
const weights = (name: string, shape: readonly number[], values: readonly number[]) => [
  ...shape.map(n => integerField(1, n)),
  integerField(2, 1),
  stringField(8, name),
  bytesField(9, new Uint8Array(Float32Array.from(values).buffer)),
];
const value = (name: string, type: number, shape: readonly (number | string)[]) => [
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
const node = (
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
const model = (graph: readonly Uint8Array[], opset = 18): Uint8Array =>
  joined([
    integerField(1, 9),
    messageField(7, graph),
    messageField(8, [stringField(1, ''), integerField(2, opset)]),
  ]);

/** x (n, 3) · w (3, 2), reshaped to (n·2) by arithmetic on the shape of x. */
const dynamic = model([
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

describe('a model with open extents', () => {
  test('is compiled for the shapes that it is given, shape arithmetic being computed', async () => {
    const read = await fromOnnx(dynamic);
    expect(read.inputs).toEqual([{ name: 'x', shape: ['n', 3], dtype: 'f32' }]);
    for (const n of [1, 4]) {
      const x = Tensor.from(new Float32Array(3 * n).fill(1), [n, 3]);
      const { z } = await read.run(cpuEngine(), { x });
      expect(z?.shape).toEqual([2 * n]);
      expect(Array.from(z?.toFloat32() ?? []).slice(0, 2)).toEqual([9, 12]);
    }
    read.release();
  });

  test('is a graph of the mathematics alone, whose weights have names', async () => {
    const { graph, weights: named, inputs } = (await fromOnnx(dynamic)).graph({ shapes: { x: [2, 3] } });
    expect(graph.nodes.map(({ kind }) => kind)).toEqual(['MatMul', 'StaticReshape']);
    expect(Object.keys(named)).toEqual(['w']);
    expect(Object.keys(inputs)).toEqual(['x']);
  });

  test('says which shape is missing', async () => {
    const read = await fromOnnx(dynamic);
    expect(() => read.graph()).toThrow("input 'x' is declared as [n, 3]: give its shape");
    expect(() => read.graph({ shapes: { x: [2, 4] } })).toThrow("input 'x' is declared as [n, 3], got [2,4]");
  });
});

describe('a file that is wrong', () => {
  const oneNode = (op: string, inputs: readonly string[] = ['x']): Uint8Array =>
    model([
      messageField(1, node(op, inputs, ['y'])),
      messageField(11, value('x', 1, [2, 3])),
      messageField(12, value('y', 1, [2, 3])),
    ]);
  test.each([
    ['is empty', new Uint8Array(0), 'the model has no graph: it is not an ONNX model'],
    ['ends early', dynamic.subarray(0, 200), /ends early: a field takes \d+ bytes, \d+ are left/],
    [
      'is text',
      new TextEncoder().encode('ONNX is not text'),
      /the model has a field of|ends early|wire type/,
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

  test.each([
    [
      'an operator that is not read',
      oneNode('NonMaxSuppression'),
      "NonMaxSuppression 'NonMaxSuppression_0': is not read",
    ],
    [
      'a value that nothing gives',
      oneNode('Add', ['x', 'later']),
      "Add 'Add_0' reads 'later', which no node before it gives",
    ],
    ['a cycle', oneNode('Add', ['x', 'y']), "reads 'y', which no node before it gives"],
    ['a missing input', oneNode('MatMul'), "MatMul 'MatMul_0': needs its input 1"],
  ])('%s: names node and operator', async (_, bytes, message) => {
    const read = await fromOnnx(bytes);
    expect(() => read.graph()).toThrow(message);
    expect(() => read.graph()).toThrow(TilewiseError);
  });

  test('a number that 32 bits do not hold is refused, not wrapped', () => {
    const tensor = joined([
      integerField(1, 1),
      integerField(2, 7),
      bytesField(9, new Uint8Array(BigInt64Array.of(2n ** 40n).buffer)),
      stringField(8, 'big'),
    ]);
    expect(() => tensorFromOnnx(tensor)).toThrow("'big' holds 1099511627776, beyond what i32 holds");
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

test('weights in another file come from the caller', async () => {
  const entry = (key: string, text: string) => messageField(13, [stringField(1, key), stringField(2, text)]);
  const external = model([
    messageField(1, node('Add', ['x', 'w'], ['y'])),
    messageField(5, [
      ...[integerField(1, 2), integerField(2, 1), stringField(8, 'w'), integerField(14, 1)],
      ...[entry('location', 'weights.bin'), entry('offset', '4'), entry('length', '8')],
    ]),
    messageField(11, value('x', 1, [2])),
    messageField(12, value('y', 1, [2])),
  ]);
  await expect(fromOnnx(external)).rejects.toThrow("weights lie in 'weights.bin'");
  const file = new Uint8Array(Float32Array.of(7, 10, 20).buffer);
  const read = await fromOnnx(external, {
    externalData: location => (location === 'weights.bin' ? file : new Uint8Array(0)),
  });
  const { y } = await read.run(cpuEngine(), { x: Tensor.from([1, 2], [2]) });
  expect(Array.from(y?.toFloat32() ?? [])).toEqual([11, 22]);
  const short = await fromOnnx(external, { externalData: () => new Uint8Array(8) });
  expect(() => short.graph()).toThrow("must give 12 bytes of 'weights.bin' for tensor 'w', got 8");
});

test('a model that was read is written again with its weights, and gives the same in onnxruntime', async () => {
  const { graph, bindings, inputs, outputs } = (await fromOnnx(dynamic)).graph({ shapes: { x: [2, 3] } });
  const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
  const written = toOnnx(graph, { values: bindings });
  const results = await runOnnx(written, { [`t${inputs.x?.id}`]: x });
  const { z } = await (await fromOnnx(dynamic)).run(cpuEngine(), { x });
  expect(results[`t${outputs.z?.id}`]?.toFloat32()).toEqual(z?.toFloat32());
  expect(() => toOnnx(graph, { values: { 77: x } })).toThrow('options.values.77 is no input of the graph');
  expect(() => toOnnx(graph, { values: { [inputs.x?.id ?? 0]: Tensor.zeros([3, 2]) } })).toThrow(
    'must have shape [2,3]',
  );
});

/** A model of one node on x f32 [2, 3]. */
const single = (
  op: string,
  inputs: readonly string[],
  extra: readonly Uint8Array[] = [],
  attributes: Uint8Array[] = [],
) =>
  model([
    messageField(1, node(op, inputs, ['y'], attributes)),
    ...extra,
    messageField(11, value('x', 1, [2, 3])),
    messageField(12, value('y', 1, [2, 3])),
  ]);
const integers = (name: string, values: readonly number[]) =>
  messageField(5, [
    integerField(1, values.length),
    integerField(2, 7),
    ...values.map(n => integerField(7, n)),
    stringField(8, name),
  ]);

test('a chain of 5,000 nodes is read without recursion', async () => {
  const nodes = Array.from({ length: 5000 }, (_, n) =>
    messageField(1, node('Abs', [`v${n}`], [`v${n + 1}`])),
  );
  const chain = model([
    ...nodes,
    messageField(11, value('v0', 1, [2])),
    messageField(12, value('v5000', 1, [2])),
  ]);
  expect((await fromOnnx(chain)).graph().graph.nodes).toHaveLength(5000);
});

test.each([
  [
    'Tile by a negative count',
    single('Tile', ['x', 'r'], [integers('r', [-1, 1])]),
    'cannot repeat [2,3] by [-1,1]',
  ],
  ['Tile by 0', single('Tile', ['x', 'r'], [integers('r', [0, 1])]), 'repeats by [0,1]'],
  [
    'Range beyond any memory',
    model([
      messageField(1, node('Range', ['a', 'b', 'c'], ['y'])),
      messageField(5, [integerField(2, 7), integerField(7, 0), stringField(8, 'a')]),
      messageField(5, [integerField(2, 7), integerField(7, 2 ** 40), stringField(8, 'b')]),
      messageField(5, [integerField(2, 7), integerField(7, 1), stringField(8, 'c')]),
      messageField(12, value('y', 7, ['n'])),
    ]),
    'more than the 16777216 that are computed while a model is read',
  ],
])('%s is refused', async (_, bytes, message) => {
  const read = await fromOnnx(bytes);
  expect(() => read.graph()).toThrow(message);
  expect(() => read.graph()).toThrow(TilewiseError);
});

describe('a branch', () => {
  /** y = If(rank of x ≥ 2, |x|, −|x|): both branches name their nodes alike and read x from outside. */
  const branch = (ops: readonly string[]) =>
    ops.flatMap((op, n) => messageField(1, node(op, [n === 0 ? 'x' : `v${n - 1}`], [`v${n}`])));
  const graphOf = (ops: readonly string[]) => [
    ...branch(ops),
    messageField(12, value(`v${ops.length - 1}`, 1, [])),
  ];
  const branches = [
    messageField(5, [stringField(1, 'then_branch'), messageField(6, graphOf(['Abs'])), integerField(20, 5)]),
    messageField(5, [
      stringField(1, 'else_branch'),
      messageField(6, graphOf(['Abs', 'Neg'])),
      integerField(20, 5),
    ]),
  ];
  const conditional = (shape: readonly number[], condition: readonly Uint8Array[]) =>
    model([
      ...condition,
      messageField(1, node('If', ['c'], ['y'], branches)),
      messageField(11, value('x', 1, shape)),
      messageField(12, value('y', 1, shape)),
    ]);
  const byRank = [
    messageField(1, node('Shape', ['x'], ['s'])),
    messageField(1, node('Size', ['s'], ['rank'])),
    integers('two', [2]),
    messageField(1, node('GreaterOrEqual', ['rank', 'two'], ['c'])),
  ];

  test.each([
    [
      [2, 1],
      [1, 2],
    ],
    [[2], [-1, -2]],
  ])('of x of shape %j is chosen by the shape', async (shape, expected) => {
    const x = Tensor.from([-1, 2], shape);
    const { y } = await (await fromOnnx(conditional(shape, byRank))).run(cpuEngine(), { x });
    expect(Array.from(y?.toFloat32() ?? [])).toEqual(expected);
  });

  test('that only the run can choose is refused by name', async () => {
    const late = [
      messageField(1, node('ReduceSum', ['x'], ['sum'])),
      messageField(1, node('Exp', ['sum'], ['e'])),
      messageField(1, node('MatMul', ['x', 'x'], ['m'])),
      messageField(
        1,
        node(
          'Cast',
          ['m'],
          ['c'],
          [messageField(5, [stringField(1, 'to'), integerField(3, 9), integerField(20, 2)])],
        ),
      ),
    ];
    const read = await fromOnnx(conditional([2], late));
    expect(() => read.graph()).toThrow(
      "If 'If_0': chooses a branch by 'c', which only the run of the graph gives",
    );
  });
});

test('an input may be called constructor', async () => {
  const odd = model([
    messageField(1, node('Abs', ['constructor'], ['y'])),
    messageField(11, value('constructor', 1, [2])),
    messageField(12, value('y', 1, [2])),
  ]);
  const { y } = await (await fromOnnx(odd)).run(cpuEngine(), {
    constructor: Tensor.from([-1, 2], [2]),
  } as never);
  expect(Array.from(y?.toFloat32() ?? [])).toEqual([1, 2]);
});

test('an output that is an input is a tensor of its own', async () => {
  const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
  const { y } = await (await fromOnnx(single('Identity', ['x']))).run(cpuEngine(), { x });
  expect(y).not.toBe(x);
  expect(y?.toFloat32()).toEqual(x.toFloat32());
});

test('truth values have an exclusive or, and integers products and quotients', async () => {
  const bools = model([
    messageField(1, node('Xor', ['a', 'b'], ['y'])),
    messageField(11, value('a', 9, [4])),
    messageField(11, value('b', 9, [4])),
    messageField(12, value('y', 9, [4])),
  ]);
  const bool = (values: number[]) => Tensor.from(values, [4], { dtype: 'bool' });
  const { y } = await (await fromOnnx(bools)).run(cpuEngine(), {
    a: bool([0, 0, 1, 1]),
    b: bool([0, 1, 0, 1]),
  });
  expect(Array.from(y?.toFloat32() ?? [])).toEqual([0, 1, 1, 0]);
  for (const [op, expected] of [
    ['Mul', [14, -14, 0]],
    ['Div', [3, -3, 0]],
  ] as const) {
    const read = await fromOnnx(
      model([
        messageField(1, node(op, ['a', 'b'], ['y'])),
        messageField(11, value('a', 7, [3])),
        messageField(11, value('b', 7, [3])),
        messageField(12, value('y', 7, [3])),
      ]),
    );
    const i32 = (values: number[]) => Tensor.from(values, [3], { dtype: 'i32' });
    const { y: result } = await read.run(cpuEngine(), { a: i32([7, -7, 0]), b: i32([2, 2, 5]) });
    expect(result?.dtype).toBe('i32');
    expect(Array.from(result?.toFloat32() ?? [])).toEqual(expected);
  }
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
  const files = [dynamic, toOnnx(attention.graph)];
  const choose = new Choices(seed);
  const next = (): number => choose.below(2 ** 31);
  let built = 0;
  for (let n = 0; n < count; n++) {
    const original = files[n % files.length] ?? dynamic;
    let bytes = Uint8Array.from(original);
    for (let m = next() % 3; m >= 0; m--) {
      const at = next() % bytes.length;
      if (next() % 8 === 0) bytes = bytes.slice(0, at + 1);
      else bytes[at] = next() % 3 === 0 ? 255 : next() & 255;
    }
    const started = processorTime();
    try {
      const read = await fromOnnx(bytes);
      read.graph({ shapes: { x: [2, 3] } });
      built += 1;
    } catch (error) {
      expect(error, `mutation ${n}: ${error}`).toBeInstanceOf(TilewiseError);
    }
    expect(processorTime() - started).toBeLessThan(1000);
  }
  expect(built).toBeGreaterThan(count / 50);
});
