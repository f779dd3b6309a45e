import { InvalidArgumentError, Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { gradients } from '../../gradients.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import type { ScalarValue } from '../../ir/tensor/scalar.ts';
import { scalarTensor } from '../../ir/tensor/storage.ts';
import { runInF32 } from '../run-in-f32.ts';
import { createCheckBindings } from './bindings.ts';

const engine = referenceEngine();

describe('a number bound to a scalar', () => {
  const bound = (dtype: GraphDType, value: ScalarValue): readonly number[] => {
    const scalar = { id: 3, name: 'n', dtype, shape: [], strides: null } as const;
    return [...scalarTensor({ ...scalar, layout: 'strided', property: 'undef' }, value).toFloat64()];
  };

  test.each<[GraphDType, ScalarValue, readonly number[]]>([
    ['i32', -(2 ** 31), [-(2 ** 31)]],
    ['i32', 2147483647n, [2147483647]],
    ['u32', 2 ** 32 - 1, [2 ** 32 - 1]],
    ['i8', -128, [-128]],
    ['u8', 255, [255]],
    ['i4', -8, [-8]],
    ['u4', 15, [15]],
    ['bool', 1, [1]],
    ['bool', 0n, [0]],
    ['bool', true, [1]],
    ['bool', false, [0]],
    ['f32', -Infinity, [-Infinity]],
    ['f16', 0.1, [0.0999755859375]],
    ['i64', -1, [2 ** 32 - 1, 2 ** 32 - 1]],
    ['i64', -(2n ** 63n), [0, 2 ** 31]],
    ['i64', 2n ** 64n - 1n, [2 ** 32 - 1, 2 ** 32 - 1]],
  ])('%s holds %s', (dtype, value, expected) => {
    expect(bound(dtype, value)).toEqual(expected);
  });

  test.each<[GraphDType, ScalarValue, string]>([
    ['i32', 0.5, 'must be an integer in [-2147483648, 2147483647], got 0.5'],
    ['i32', NaN, 'must be an integer in [-2147483648, 2147483647], got NaN'],
    ['i32', 3e9, 'must be an integer in [-2147483648, 2147483647], got 3000000000'],
    ['u32', -1n, 'must be an integer in [0, 4294967295], got -1n'],
    ['i8', 128, 'must be an integer in [-128, 127], got 128'],
    ['u8', 256, 'must be an integer in [0, 255], got 256'],
    ['i4', 8, 'must be an integer in [-8, 7], got 8'],
    ['u4', Infinity, 'must be an integer in [0, 15], got Infinity'],
    ['bool', 2, 'must be true, false, 1 or 0, got 2'],
    ['i32', true, 'must be an integer in [-2147483648, 2147483647], got true'],
    ['f32', true, 'must be a number, got true'],
    ['i64', -1.5, 'must be a bigint or a safe integer in [-2^63, 2^64), got -1.5'],
    ['i64', 2 ** 53, 'must be a bigint or a safe integer in [-2^63, 2^64), got 9007199254740992'],
    [
      'i64',
      -(2n ** 64n) - 5n,
      'must be a bigint or a safe integer in [-2^63, 2^64), got -18446744073709551621n',
    ],
    ['i64', 2n ** 64n, 'must be a bigint or a safe integer in [-2^63, 2^64), got 18446744073709551616n'],
  ])('%s refuses %s, which it cannot hold', (dtype, value, rule) => {
    expect(() => bound(dtype, value)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: `tensor 3 'n' (${dtype} []) ${rule}` }),
    );
  });

  test('is refused before anything runs', async () => {
    const g = new GraphBuilder();
    const index = g.op('GenIndex', [g.input([3])], { axis: 0 }, 'i32');
    const sum = g.op('Add', [index, g.scalar(0.5, 'i32')], {}, 'i32');
    await expect(g.graph.run(engine, g.bindings)).rejects.toThrow(/must be an integer/);
    const [, scalar] = g.graph.inputs;
    const results = await g.graph.run(engine, { ...g.bindings, [scalar.id]: -2 });
    expect([...results[sum.id].toFloat32()]).toEqual([-2, -1, 0]);
  });

  test.each<[GraphDType, readonly number[]]>([
    ['i32', [1, 0.5]],
    ['i32', [3e9]],
    ['bool', [1, 2]],
  ])('so is one of a Constant of %s: %j', (dtype, value) => {
    expect(() => new GraphBuilder().op('Constant', [], { value, shape: [value.length] }, dtype)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OP',
        message: expect.stringContaining(`attribute 'value' must be`),
      }),
    );
  });
});

describe('ids of bindings', () => {
  /** y = (x·w)·w, in two partitions; `spare` is a tensor that nothing reads. */
  function example() {
    const g = new GraphBuilder();
    const [x, w] = [g.input([2, 3]), g.input([3, 3])];
    const product = g.op('MatMul', [x, w]);
    const y = g.op('MatMul', [product, w]);
    const spare = g.input([1]);
    g.graph.finalize();
    return { g, x, spare, product, y };
  }

  const refused = (key: string, hint: string) =>
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: `bindings has '${key}', which is the id of no tensor of the graph${hint}`,
    });

  test('of unknown tensors are refused, however the graph is run, with a hint at the unbound tensor', async () => {
    const { g, product, y } = example();
    const { graph } = g;
    const wrong = { ...g.bindings, 999: Tensor.zeros([2, 3]) };
    const ofGraph = refused('999', `; did you mean ${y.id}?`);
    await expect(graph.run(engine, wrong)).rejects.toEqual(ofGraph);
    await expect(graph.compile(engine).execute(wrong)).rejects.toEqual(ofGraph);
    await expect(runInF32(graph, engine, wrong)).rejects.toEqual(ofGraph);
    const [first] = graph.partitions();
    const ofFirst = refused('999', `; did you mean ${product.id}?`);
    await expect(first.run(engine, wrong)).rejects.toEqual(ofFirst);
    for (const cached of [true, false])
      await expect(first.compile(engine, { cached }).execute(wrong)).rejects.toEqual(ofFirst);
  });

  test('names are not ids', async () => {
    const g = new GraphBuilder();
    const x = g.graph.tensor({ dtype: 'f32', shape: [1], name: 'x' });
    const y = g.op('Exp', [x]);
    const byName = { x: Tensor.zeros([1]), [y.id]: Tensor.zeros([1]) };
    for (const bindings of [byName, { x: byName.x }])
      await expect(g.graph.run(engine, bindings as never)).rejects.toEqual(
        refused('x', `; did you mean ${x.id}?`),
      );
  });

  test('of known tensors are accepted by all partitions, for unread tensors, and by the gradients', async () => {
    const { g, x, product, y, spare } = example();
    const results = await g.graph.run(engine, g.bindings);
    const known: Record<number, Tensor> = { ...(g.bindings as Record<number, Tensor>) };
    for (const partition of g.graph.partitions()) Object.assign(known, await partition.run(engine, known));
    expect(Object.keys(known).map(Number)).toContain(product.id);
    expect(known[y.id].toFloat32()).toEqual(results[y.id].toFloat32());

    const backward = gradients(g.graph, { of: y, withRespectTo: [x] }).finalize();
    const seed = backward.seeds.get(y.id);
    expect(backward.inputs.map(t => t.id)).not.toContain(spare.id);
    const ids = backward.nodes.flatMap(node => node.outputs.map(t => t.id));
    expect(ids).not.toContain(spare.id);
    const given = { ...known, [seed?.id ?? NaN]: Tensor.zeros([2, 3]) };
    expect(Object.keys(await backward.run(engine, given))).toHaveLength(1);
  });

  test('of an output may be passed to run too, which fills it', async () => {
    const { g, y } = example();
    const own = Tensor.zeros([2, 3]);
    const results = await g.graph.run(engine, { ...g.bindings, [y.id]: own });
    expect(results[y.id]).toBe(own);
    expect(own.get(0, 0)).not.toBe(0);
  });
});

const tensor = (id: number) =>
  ({ id, name: 't', dtype: 'f32', shape: [4], strides: null, layout: 'strided', property: 'undef' }) as const;

test('a host tensor bound to an output of another engine is refused before any work', () => {
  const { primitives } = engine;
  const placeOf: typeof primitives.placeOf = (_, argument) => {
    throw new InvalidArgumentError(argument ?? 'tensor', 'is not of this engine');
  };
  const ends = { inputs: [tensor(1)], outputs: [tensor(2)], overwrites: () => false };
  const { check } = createCheckBindings({ ...primitives, placeOf }, ends);
  expect(() => check({ 1: Tensor.zeros([4]), 2: Tensor.zeros([4]) })).toThrow(
    "tensor 2 't' is not of this engine",
  );
});

test('a tensor that was bound before is compared with tensors that are new', () => {
  const ends = { inputs: [tensor(1)], outputs: [tensor(2)], overwrites: () => false };
  const { check } = createCheckBindings(engine.primitives, ends);
  const data = new Float32Array(8);
  const at = (offset: number): Tensor => Tensor.wrap(data, { dtype: 'f32', shape: [4], offset });
  const [input, output] = [at(0), at(4)];
  for (let round = 0; round < 2; round++) check({ 1: input, 2: output });
  expect(() => check({ 1: input, 2: at(2) })).toThrow('must not overlap');
  expect(() => check({ 1: at(3), 2: output })).toThrow('must not overlap');
  check({ 1: input });
  expect(() => check({ 1: at(3), 2: output })).toThrow('must not overlap');
  check({ 1: input, 2: output });
  expect(() => check({ 2: output })).toThrow('is not bound');
});
