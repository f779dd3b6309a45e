import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { PreparedPrimitive, TensorEngine } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { sines } from '../../testing/sines.ts';
import {
  add,
  attention,
  compile,
  gather,
  gradientsOf,
  matmul,
  multiply,
  reduceSum,
  tanh,
  type Variable,
} from '../frontends/functions/index.ts';
import { Graph } from '../graph.ts';

/** The CPU engine, which counts the steps that run on new tensors, and those that are bound to tensors. */
function countingEngine(): TensorEngine<Tensor> & { readonly ran: { anew: number; bound: number } } {
  const engine = cpuEngine({ threads: 1 });
  const ran = { anew: 0, bound: 0 };
  const counted = (prepared: PreparedPrimitive<Tensor>): PreparedPrimitive<Tensor> => ({
    ...prepared,
    run(...tensors) {
      ran.anew++;
      prepared.run(...tensors);
    },
    bind(...tensors) {
      const work = prepared.bind?.(...tensors);
      if (!work) return null;
      const run = (): void => {
        ran.bound++;
        work.run();
      };
      return { run, release: work.release };
    },
  });
  const prepare = engine.primitives.prepare;
  return {
    ...engine,
    ran,
    primitives: { ...engine.primitives, prepare: (...of) => counted(prepare(...of)) },
  };
}

const specs = { x: [16, 32], w: [32, 32], b: [32] };
const fn = ({ x, w, b }: Record<string, Variable>) => [multiply(tanh(matmul(x, w)), b), add(w, b)];

test('steps on the tensors of the last run are bound to them, and the others run anew', async () => {
  const engine = countingEngine();
  const run = compile(engine, fn, specs);
  const expected = compile(cpuEngine({ threads: 1 }), fn, specs);
  const upload = (name: keyof typeof specs, seed: number): Tensor => engine.upload(sines(specs[name], seed));
  const inputs = { x: upload('x', 1), w: upload('w', 2), b: upload('b', 3) };
  const outputs = run.results.map(desc => engine.primitives.allocate(desc));
  const runOn = async (given: typeof inputs) => {
    const before = { ...engine.ran };
    await run(given, outputs);
    const results = await expected(given);
    expect(outputs.map(t => t.toFloat32())).toEqual([...results].map(t => t.toFloat32()));
    return { anew: engine.ran.anew - before.anew, bound: engine.ran.bound - before.bound };
  };
  const { anew: all } = await runOn(inputs);
  expect(all).toBeGreaterThan(2);
  expect(await runOn(inputs)).toEqual({ anew: 0, bound: all });

  const others = { ...inputs, x: upload('x', 4) };
  const mixed = await runOn(others);
  expect(mixed.anew).toBeGreaterThan(0);
  expect(mixed.bound).toBeGreaterThan(0);
  // The elements may change in place.
  others.x.data.fill(0.5);
  expect(await runOn(others)).toEqual({ anew: 0, bound: all });
});

test('a run that failed leaves no step bound to its tensors', async () => {
  const engine = countingEngine();
  const { primitives } = engine;
  let fails = false;
  const prepare: typeof primitives.prepare = (...of) => {
    const prepared = primitives.prepare(...of);
    const run: typeof prepared.run = (...tensors) => {
      if (fails) throw new Error('out of luck');
      prepared.run(...tensors);
    };
    return { ...prepared, run };
  };
  const run = compile({ ...engine, primitives: { ...primitives, prepare } }, fn, specs);
  const given = (seed: number) => ({
    x: engine.upload(sines(specs.x, seed)),
    w: engine.upload(sines(specs.w, seed + 1)),
    b: engine.upload(sines(specs.b, seed + 2)),
  });
  const outputs = run.results.map(desc => engine.primitives.allocate(desc));
  const [first, second] = [given(1), given(4)];
  for (let round = 0; round < 3; round++) await run(first, outputs);
  fails = true;
  await expect(run(second, outputs)).rejects.toThrow('out of luck');
  fails = false;
  await run(second, outputs);
  const expected = await compile(cpuEngine({ threads: 1 }), fn, specs)(second);
  expect(outputs.map(t => t.toFloat32())).toEqual([...expected].map(t => t.toFloat32()));
});

test("attention that reads and writes views of its neighbours' tensors has the same results as alone", async () => {
  const engine = cpuEngine({ threads: 1 });
  const shape = [2, 3, 20, 8] as const;
  const model = ({ q, k, v, w }: Record<string, Variable>) => [
    matmul(attention(multiply(q, q), k, v, { causal: true }), w),
  ];
  const run = compile(engine, model, { q: shape, k: shape, v: shape, w: [8, 8] });
  const [q, k, v] = [1, 2, 3].map(seed => engine.upload(sines(shape, seed)));
  const w = engine.upload(sines([8, 8], 4));
  const outputs = run.results.map(desc => engine.primitives.allocate(desc));
  const squared = Tensor.from(
    q.toFloat32().map(x => x * x),
    shape,
  );
  const { o } = await engine.sdpa(squared, k, v, { causal: true });
  const [expected] = await compile(engine, ({ a, b }: Record<string, Variable>) => [matmul(a, b)], {
    a: shape,
    b: [8, 8],
  })({ a: o, b: w });
  for (let round = 0; round < 3; round++) {
    outputs[0].data.fill(Number.NaN);
    await run({ q, k, v, w }, outputs);
    expect(outputs[0].toFloat32()).toEqual(expected.toFloat32());
  }
});

test('a copy of a tensor to itself is not run, and does not repeat an earlier copy', async () => {
  const engine = countingEngine();
  const graph = new Graph();
  const [data, updates, indices, output] = [
    graph.tensor({ dtype: 'f32', shape: [1, 8, 4] }),
    graph.tensor({ dtype: 'f32', shape: [1, 1, 4] }),
    graph.tensor({ dtype: 'i32', shape: [1] }),
    graph.tensor({ dtype: 'f32', shape: [1, 8, 4] }),
  ];
  graph.op('TensorScatter', { attrs: { axis: 1 }, inputs: [data, updates, indices], outputs: [output] });
  const compiled = graph.compile(engine);
  const cache = engine.upload(Tensor.zeros([1, 8, 4]));
  const bindings = {
    [data.id]: cache,
    [updates.id]: engine.upload(sines([1, 1, 4], 1)),
    [indices.id]: engine.upload(Tensor.from([2], [1], { dtype: 'i32' })),
    [output.id]: cache,
  };
  for (let round = 0; round < 3; round++) await compiled.execute(bindings);
  // The scatter, in the second and third run.
  expect(engine.ran.bound).toBe(2);

  // After a run on tensors between which a step was bound to copy.
  const [from, to] = [engine.upload(sines([1, 8, 4], 2)), engine.upload(Tensor.zeros([1, 8, 4]))];
  const apart = { ...bindings, [data.id]: from, [output.id]: to };
  for (let round = 0; round < 3; round++) await compiled.execute(apart);
  expect(engine.ran.bound).toBeGreaterThan(0);
  to.data.fill(7);
  for (let round = 0; round < 3; round++) await compiled.execute(bindings);
  expect(new Set(to.toFloat32())).toEqual(new Set([7]));
});

test.each([
  [[40], [12, 6]],
  [
    [5, 8],
    [3, 70],
  ],
] as const)(
  'rows that are added by index, %o indices to %o, are sums in f64, also when bound',
  async (indices, to) => {
    const engine = countingEngine();
    const model = ({ rows, at, dO }: Record<string, Variable>) =>
      gradientsOf(reduceSum(multiply(gather(rows, at), dO), { axes: [...indices, 0].map((_, d) => d) }), [
        rows,
      ]);
    const updates = [...indices, to[1]];
    const run = compile(engine, model, { rows: to, at: { shape: indices, dtype: 'i32' }, dO: updates });
    const [rows, dO] = [engine.upload(sines(to, 2)), engine.upload(sines(updates, 1))];
    const outputs = run.results.map(desc => engine.primitives.allocate(desc));
    for (let round = 0; round < 4; round++) {
      const places = Array.from(
        { length: indices.reduce((n, extent) => n * extent, 1) },
        (_, n) => (n * n + round) % to[0],
      );
      const at = Tensor.from(places, indices, { dtype: 'i32' });
      const expected = new Float64Array(to[0] * to[1]);
      const values = dO.toFloat64();
      places.forEach((row, n) => {
        for (let c = 0; c < to[1]; c++) expected[row * to[1] + c] += values[n * to[1] + c];
      });
      outputs[0].data.fill(Number.NaN);
      const { anew } = engine.ran;
      await run({ rows, at, dO }, outputs);
      expect(outputs[0].toFloat32()).toEqual(Float32Array.from(expected));
      if (round > 1) expect(engine.ran.anew).toBe(anew);
    }
  },
);

test('a run in which attention is refused leaves no attention bound to the earlier tensors', async () => {
  const engine = cpuEngine({ threads: 1 });
  const shape = [1, 2, 12, 8] as const;
  const graph = new Graph();
  const [q, k, v, o] = [0, 1, 2, 3].map(() => graph.tensor({ dtype: 'f32', shape }));
  const scale = graph.tensor({ dtype: 'f32', shape: [] });
  const attrs = { operands: 'q k v scale', results: 'o' };
  graph.op('Sdpa', { attrs, inputs: [q, k, v, scale], outputs: [o] });
  const compiled = graph.finalize().compile(engine);
  const made = [1, 4].map(seed => {
    const tensors = [0, 1, 2].map(n => engine.upload(sines(shape, seed + n)));
    const result = engine.primitives.allocate({ dtype: 'f32', shape });
    const bindings = { [q.id]: tensors[0], [k.id]: tensors[1], [v.id]: tensors[2], [o.id]: result };
    return { tensors, result, bindings };
  });
  const [first, second] = made;
  for (let round = 0; round < 3; round++) await compiled.execute({ ...first.bindings, [scale.id]: 0.5 });
  await expect(compiled.execute({ ...second.bindings, [scale.id]: Number.NaN })).rejects.toThrow('scale');
  first.result.data.fill(7);
  await compiled.execute({ ...second.bindings, [scale.id]: 0.5 });
  const [a, b, c] = second.tensors;
  const { o: expected } = await engine.sdpa(a, b, c, { scale: 0.5 });
  expect(second.result.toFloat32()).toEqual(expected.toFloat32());
  expect(new Set(first.result.toFloat32())).toEqual(new Set([7]));
});
