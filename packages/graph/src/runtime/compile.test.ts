import { Tensor } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';

/** tanh(tanh(tanh(x·w)·w)·w), in which each product is a separate partition. */
function chain() {
  const g = new GraphBuilder();
  const [x, w] = [g.input([2, 3]), g.input([3, 3])];
  let y = x;
  for (let n = 0; n < 3; n++) y = g.op('Tanh', [g.op('MatMul', [y, w])]);
  g.graph.finalize();
  return { g, x, w, y };
}

/** An engine that counts its allocations and its prepared primitives. */
function counting() {
  const engine = referenceEngine();
  const count = { allocated: 0, ready: 0 };
  const counted: TensorEngine<Tensor> = {
    ...engine,
    primitives: {
      ...engine.primitives,
      allocate: desc => {
        count.allocated++;
        return engine.primitives.allocate(desc);
      },
      prepare(...args) {
        count.ready++;
        return { ...engine.primitives.prepare(...args), release: () => count.ready-- };
      },
    },
  };
  return { engine: counted, count };
}

test('a compiled graph runs again and again with the results of run, and allocates nothing but outputs', async () => {
  const { g, x, y } = chain();
  const { engine, count } = counting();
  const compiled = g.graph.compile(engine);
  expect(compiled.outputs.map(t => [t.id, t.shape])).toEqual([[y.id, [2, 3]]]);
  for (const scale of [1, 0.5]) {
    const bindings = {
      ...g.bindings,
      [x.id]: Tensor.from(
        [1, 2, 3, 4, 5, 6].map(n => n * scale),
        [2, 3],
      ),
    };
    const expected = await g.graph.run(referenceEngine(), bindings);
    count.allocated = 0;
    const results = await compiled.execute(bindings);
    expect(results[y.id].toFloat32()).toEqual(expected[y.id].toFloat32());
    expect(count.allocated).toBe(1);

    const own = Tensor.zeros([2, 3]);
    expect((await compiled.execute({ ...bindings, [y.id]: own }))[y.id]).toBe(own);
    expect(own.toFloat32()).toEqual(expected[y.id].toFloat32());
    expect(count.allocated).toBe(1);
  }
});

test('tensors between partitions take turns in the same memory', () => {
  const { g } = chain();
  const longer = new GraphBuilder();
  let y = longer.input([2, 3]);
  const w = longer.input([3, 3]);
  for (let n = 0; n < 9; n++) y = longer.op('Tanh', [longer.op('MatMul', [y, w])]);
  const between = (builder: GraphBuilder): number => {
    const { workspaceBytes, partitions } = builder.graph.compile(referenceEngine());
    return partitions.reduce((bytes, partition) => bytes - partition.workspaceBytes, workspaceBytes);
  };
  expect(between(longer)).toBe(between(g));
});

test('shapes that the graph does not declare are passed to compile', async () => {
  const g = new GraphBuilder();
  const x = g.graph.tensor({ dtype: 'f32', shape: [-1] });
  const y = g.op('Square', [x]);
  g.graph.finalize();
  expect(() => g.graph.compile(referenceEngine())).toThrow(/must have a known shape/);
  const compiled = g.graph.compile(referenceEngine(), { inputs: { [x.id]: { shape: [2] } } });
  const results = await compiled.execute({ [x.id]: Tensor.from([3, 4], [2]) });
  expect([...results[y.id].toFloat32()]).toEqual([9, 16]);
});

test('an input that is not bound is an error that names it', async () => {
  const { g, w } = chain();
  const compiled = g.graph.compile(referenceEngine());
  const { [w.id]: _, ...rest } = g.bindings;
  await expect(compiled.execute(rest)).rejects.toThrow(new RegExp(`tensor .*${w.id}.* is not bound`));
});

test('overlapping executions each have their own results', async () => {
  const { g, x, y } = chain();
  const compiled = g.graph.compile(referenceEngine());
  const bindings = [1, 2, 3].map(n => ({ ...g.bindings, [x.id]: Tensor.from([n, 0, 1, 0, n, 2], [2, 3]) }));
  const expected = await Promise.all(bindings.map(each => g.graph.run(referenceEngine(), each)));
  const results = await Promise.all(bindings.map(each => compiled.execute(each)));
  expect(results.map(each => each[y.id].toFloat32())).toEqual(expected.map(each => each[y.id].toFloat32()));
});

test('an invalid binding is reported before anything runs', async () => {
  const g = new GraphBuilder();
  const [a, b] = [g.input([2]), g.input([2])];
  const [first, last] = [g.op('Exp', [a]), g.op('ReduceSum', [b], { axes: [0], keep_dims: true })];
  const compiled = g.graph.compile(referenceEngine(), { policy: 'debug' });
  expect(compiled.partitions.length).toBe(2);
  const own = Tensor.zeros([2]);
  const bindings = { ...g.bindings, [first.id]: own };
  const { [b.id]: _, ...without } = bindings;
  for (const wrong of [without, { ...bindings, [last.id]: Tensor.zeros([3]) }]) {
    await expect(compiled.execute(wrong)).rejects.toThrow(/must be bound to shape|is not bound/);
    expect([...own.toFloat32()]).toEqual([0, 0]);
  }
});

test('a released graph refuses to run, but pending executions finish', async () => {
  const { g, y } = chain();
  const compiled = g.graph.compile(referenceEngine());
  const asked = compiled.execute(g.bindings);
  compiled.release();
  compiled.release();
  expect((await asked)[y.id].shape).toEqual([2, 3]);
  await expect(compiled.execute(g.bindings)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'graph has been released',
  });
});

test.each([
  [Infinity, -Infinity],
  [-0, 0],
])('the constants %s and %s give two programs, although JSON writes them alike', async (...values) => {
  const engine = referenceEngine();
  for (const value of values) {
    const g = new GraphBuilder();
    const x = g.input([1], { values: [1] });
    const y = g.op('Divide', [x, g.op('Constant', [], { value: [value], shape: [1] })]);
    expect((await g.graph.run(engine, g.bindings, { policy: 'debug' }))[y.id].toFloat32()[0]).toBe(1 / value);
  }
});

test('if a partition cannot be compiled, those already compiled are freed', () => {
  const g = new GraphBuilder();
  const y = g.op('Tanh', [g.op('MatMul', [g.input([2, 3]), g.input([3, 3])])]);
  g.op('MatMul', [y, g.graph.tensor({ dtype: 'f32', shape: [-1, -1] })]);
  const { engine, count } = counting();
  expect(() => g.graph.compile(engine)).toThrow(/must have a known shape/);
  expect(count.ready).toBe(0);
});
