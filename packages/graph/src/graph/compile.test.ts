import { Tensor } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention-graph.ts';

/** tanh(tanh(tanh(x·w)·w)·w), each product a partition of its own. */
function chain() {
  const g = new GraphBuilder();
  const [x, w] = [g.input([2, 3]), g.input([3, 3])];
  let y = x;
  for (let n = 0; n < 3; n++) y = g.op('Tanh', [g.op('MatMul', [y, w])]);
  g.graph.finalize();
  return { g, x, w, y };
}

/** An engine that counts what it allocates. */
function counting() {
  const engine = referenceEngine();
  const count = { allocated: 0 };
  const counted: TensorEngine<Tensor> = {
    ...engine,
    primitives: {
      ...engine.primitives,
      allocate: desc => {
        count.allocated++;
        return engine.primitives.allocate(desc);
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

test('what partitions hand on takes turns in the same memory', () => {
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

test('shapes that the graph does not say are given to compile', async () => {
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
