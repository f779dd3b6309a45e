import { Tensor, TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { processorTime } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { runOnnx } from '../../../../testing/compare/onnx-session.ts';
import { model, node, oneNode, openExtents, value } from '../../../../testing/onnx/model-file.ts';
import { add, traceGraph } from '../../../frontends/functions/index.ts';
import { fromOnnx, toOnnx } from '../index.ts';
import { encodeModel } from '../model.ts';
import { integerField, messageField, stringField } from '../protobuf.ts';

describe('a model with open extents', () => {
  test('is compiled for given shapes, with its shape arithmetic computed', async () => {
    const read = await fromOnnx(openExtents);
    expect(read.inputs).toEqual([{ name: 'x', shape: ['n', 3], dtype: 'f32' }]);
    for (const n of [1, 4]) {
      const x = Tensor.from(new Float32Array(3 * n).fill(1), [n, 3]);
      const { z } = await read.run(cpuEngine(), { x });
      expect(z?.shape).toEqual([2 * n]);
      expect(Array.from(z?.toFloat32() ?? []).slice(0, 2)).toEqual([9, 12]);
    }
    read.release();
  });

  test('becomes a graph without shape arithmetic, whose weights have names', async () => {
    const { graph, weights: named, inputs } = (await fromOnnx(openExtents)).graph({ shapes: { x: [2, 3] } });
    expect(graph.nodes.map(({ kind }) => kind)).toEqual(['MatMul', 'StaticReshape']);
    expect(Object.keys(named)).toEqual(['w']);
    expect(Object.keys(inputs)).toEqual(['x']);
  });

  test('says which shape is missing', async () => {
    const read = await fromOnnx(openExtents);
    expect(() => read.graph()).toThrow("input 'x' is declared as [n, 3]: give its shape");
    expect(() => read.graph({ shapes: { x: [2, 4] } })).toThrow("input 'x' is declared as [n, 3], got [2,4]");
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
  await expect(fromOnnx(external)).rejects.toThrow("the weights are in 'weights.bin'");
  const file = new Uint8Array(Float32Array.of(7, 10, 20).buffer);
  const read = await fromOnnx(external, {
    externalData: location => (location === 'weights.bin' ? file : new Uint8Array(0)),
  });
  const { y } = await read.run(cpuEngine(), { x: Tensor.from([1, 2], [2]) });
  expect(Array.from(y?.toFloat32() ?? [])).toEqual([11, 22]);
  const short = await fromOnnx(external, { externalData: () => new Uint8Array(8) });
  expect(() => short.graph()).toThrow("a Uint8Array with 12 bytes of 'weights.bin' for tensor 'w', got 8");
  const wrong = await fromOnnx(external, { externalData: () => file.buffer as never });
  expect(() => wrong.graph()).toThrow(TilewiseError);
});

test("weights in another file may lie at any byte of Node's Buffer", async () => {
  const entry = (key: string, text: string) => messageField(13, [stringField(1, key), stringField(2, text)]);
  const external = model([
    messageField(1, node('Add', ['x', 'w'], ['y'])),
    messageField(5, [
      ...[integerField(1, 2), integerField(2, 1), stringField(8, 'w'), integerField(14, 1)],
      ...[entry('location', 'weights.bin'), entry('offset', '3')],
    ]),
    messageField(11, value('x', 1, [2])),
    messageField(12, value('y', 1, [2])),
  ]);
  const file = Buffer.concat([Buffer.alloc(3), Buffer.from(Float32Array.of(10, 20).buffer)]);
  const read = await fromOnnx(external, { externalData: () => file });
  const { y } = await read.run(cpuEngine(), { x: Tensor.from([1, 2], [2]) });
  expect(Array.from(y?.toFloat32() ?? [])).toEqual([11, 22]);
});

test('a model that is read and exported again, with its weights, has the same results in onnxruntime', async () => {
  const { graph, bindings, inputs, outputs } = (await fromOnnx(openExtents)).graph({ shapes: { x: [2, 3] } });
  const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
  const written = toOnnx(graph, { values: bindings });
  const results = await runOnnx(written, { [`t${inputs.x?.id}`]: x });
  const { z } = await (await fromOnnx(openExtents)).run(cpuEngine(), { x });
  expect(results[`t${outputs.z?.id}`]?.toFloat32()).toEqual(z?.toFloat32());
  expect(() => toOnnx(graph, { values: { 77: x } })).toThrow(
    'options.values.77 is not an input of the graph',
  );
  expect(() => toOnnx(graph, { values: { [inputs.x?.id ?? 0]: Tensor.zeros([3, 2]) } })).toThrow(
    'must have shape [2,3]',
  );
});

test('the constants of a traced function can be passed on as they are', async () => {
  const { graph, inputs, constants, results } = traceGraph(({ x }) => add(x, Tensor.from([10, 20], [2])), {
    x: [2],
  });
  const names = { [inputs.x?.id ?? 0]: 'x', [results[0]?.id ?? 0]: 'y' };
  const read = await fromOnnx(toOnnx(graph, { names, values: constants }));
  const { y } = await read.run(cpuEngine(), { x: Tensor.from([1, 2], [2]) });
  expect([...(y?.toFloat32() ?? [])]).toEqual([11, 22]);
  const wrong = [constants] as never;
  expect(() => toOnnx(graph, { values: wrong })).toThrow(
    'options.values must be an object or a Map, got Array',
  );
});

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

test('inputs and shapes of another kind are refused by name', async () => {
  const read = await fromOnnx(openExtents);
  const any = (value: unknown): never => value as never;
  await expect(read.run(cpuEngine(), any({ x: [1, 2] }))).rejects.toThrow(
    'inputs.x must be a Tensor, got Array',
  );
  expect(() => read.graph({ values: any({ x: 5 }) })).toThrow('options.values.x must be a Tensor, got 5');
  expect(() => read.graph({ shapes: any({ x: 'a' }) })).toThrow('options.shapes.x must be a shape, got "a"');
  expect(() => read.graph({ shapes: { x: [2, 3], X: [2, 3] } })).toThrow(
    "options.shapes has no 'X'; did you mean 'x'?",
  );
  expect(() => read.graph({ shapes: { x: [2, 3] }, values: { X: Tensor.zeros([2, 3]) } })).toThrow(
    "options.values has no 'X'; did you mean 'x'?",
  );
});

test('an output that is an input is copied', async () => {
  const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
  const { y } = await (await fromOnnx(oneNode('Identity', ['x']))).run(cpuEngine(), { x });
  expect(y).not.toBe(x);
  expect(y?.toFloat32()).toEqual(x.toFloat32());
});

test('booleans have an exclusive or, and integers products and quotients', async () => {
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

test('a mask of a million elements, which thirty operators compute, is read within two seconds', async () => {
  const S = 1024;
  const int64 = (name: string, list: readonly number[], shape = [list.length]) => {
    const data = new Uint8Array(BigInt64Array.from(list, BigInt).buffer);
    return { name, type: 7, shape, data };
  };
  const nodes = [
    ['Range', ['zero', 'size', 'one'], 'keys'],
    ['Unsqueeze', ['keys', 'one_axis'], 'queries'],
    ['Sub', ['queries', 'keys'], 'd0'],
    // As T5's buckets of distances, and a window, are computed.
    ...Array.from({ length: 12 }, (_, n) => ['Abs', [`d${n}`], `d${n + 1}`] as const),
    ['Less', ['keys', 'queries'], 'm0'],
    ...Array.from({ length: 12 }, (_, n) => ['And', [`m${n}`, 'm0'], `m${n + 1}`] as const),
    ['Where', ['m12', 'd12', 'zero'], 'mask'],
    ['Cast', ['mask'], 'bias'],
    ['Add', ['scores', 'bias'], 'masked'],
  ] as const;
  const bytes = encodeModel({
    ...{ name: 'mask', opset: 17 },
    nodes: nodes.map(([op, inputs, output]) => ({
      ...{ op, name: output, inputs, outputs: [output] },
      attributes: { ...(op === 'Cast' && { to: { int: 1 } }) },
    })),
    initializers: [
      int64('zero', [0], []),
      int64('one', [1], []),
      int64('size', [S], []),
      int64('one_axis', [1]),
    ],
    inputs: [{ name: 'scores', type: 1, shape: [S, S] }],
    outputs: [{ name: 'masked', type: 1, shape: [S, S] }],
  });
  const read = await fromOnnx(bytes);
  // The first reading includes the time in which the host compiles the loops.
  const times = [1, 2].map(() => {
    const started = processorTime();
    const { graph } = read.graph();
    expect(graph.nodes.map(({ kind }) => kind)).toEqual(['Add']);
    return processorTime() - started;
  });
  expect(Math.min(...times)).toBeLessThan(2000);
});
