import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { flatten, load, sub as minus, scoreMod, mul as times, toF32 } from '@tilewise/core/expr';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createContext, type GpuTensor, webgpuEngine } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, test, vi } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import { sharedGpu } from '../../testing/compare/webgpu-engine.ts';
import { sines } from '../../testing/sines.ts';
import {
  add,
  attention,
  compile,
  matmul,
  multiply,
  reduceSum,
  softmax,
  tanh,
  type Variable,
} from '../frontends/functions/index.ts';
import { Graph } from '../graph.ts';

const shape = [1, 2, 12, 8] as const;
const specs = { x: shape, w: [8, 8], scale: [] } as const;
type Inputs = Readonly<Record<keyof typeof specs, Variable>>;
/** Products, rows, attention, and a sum that takes a workspace. */
const fn = ({ x, w, scale }: Inputs) => {
  const h = tanh(multiply(matmul(x, w), scale));
  const o = attention(h, x, x, { causal: true });
  return [softmax(o, { axis: 3 }), reduceSum(add(h, o), { axes: [0, 1, 2, 3] })];
};

/** The results of the CPU engine. */
const expectedOf = async (inputs: Readonly<Record<'x' | 'w' | 'scale', Tensor>>): Promise<Tensor[]> =>
  [...(await compile(cpuEngine(), fn, specs)(inputs))] as Tensor[];

async function expectSame(engine: TensorEngine<GpuTensor>, found: Iterable<GpuTensor>, expected: Tensor[]) {
  const read = await Promise.all([...found].map(tensor => engine.download(tensor)));
  for (const [n, tensor] of read.entries()) {
    const numbers = expected[n].toFloat32();
    for (const [i, value] of tensor.toFloat32().entries()) expect(value).toBeCloseTo(numbers[i], 4);
  }
}

test('host tensors and numbers that change from run to run are read anew', async () => {
  const { engine } = await sharedGpu();
  const run = compile(engine, fn, specs);
  const [x, w, scale] = [sines(shape, 1), sines([8, 8], 2), Tensor.from([0.5], [])];
  for (const round of [0, 1, 2, 3]) {
    // Sometimes the same objects with other numbers, and sometimes other objects.
    x.data.set(sines(shape, round).data);
    scale.data[0] = 0.25 * (round + 1);
    const given = { x: round === 2 ? sines(shape, 9) : x, w, scale };
    await expectSame(engine, await run(given), await expectedOf(given));
  }
  run.release();
});

test('runs on the tensors of the last run and on others have the same results as single runs', async () => {
  const { engine } = await sharedGpu();
  const run = compile(engine, fn, specs);
  const made = [1, 2].map(seed => ({ x: sines(shape, seed), w: sines([8, 8], seed + 5) }));
  const onGpu = made.map(({ x, w }) => ({ x: engine.upload(x), w: engine.upload(w) }));
  const outputs = run.results.map(desc => engine.primitives.allocate(desc));
  const scale = Tensor.from([0.75], []);
  const expected = await Promise.all(made.map(given => expectedOf({ ...given, scale })));
  for (const n of [0, 0, 1, 1, 0, 1]) {
    await run({ ...onGpu[n], scale }, outputs);
    await expectSame(engine, outputs, expected[n]);
  }
  // Runs that are requested together happen in turn.
  const together = [0, 1, 0].map(n => run({ ...onGpu[n], scale }));
  for (const [n, results] of together.entries()) await expectSame(engine, await results, expected[n % 2]);
  run.release();
});

test("runs of the graph and recordings in the caller's encoder may alternate", async () => {
  const { engine, ctx } = await sharedGpu();
  const graph = new Graph();
  const [x, w, y] = [
    [4, 8],
    [8, 8],
    [4, 8],
  ].map(extents => graph.tensor({ dtype: 'f32', shape: extents }));
  graph.op('MatMul', { inputs: [x, w], outputs: [y] });
  graph.finalize();
  const compiled = graph.compile(engine);
  const given = [1, 2].map(seed => [sines([4, 8], seed), sines([8, 8], seed + 3)]);
  const onGpu = given.map(tensors => tensors.map(tensor => engine.upload(tensor)));
  const target = engine.primitives.allocate({ dtype: 'f32', shape: [4, 8] });
  for (const [n, how] of [
    [0, 'run'],
    [0, 'run'],
    [1, 'encode'],
    [0, 'run'],
    [0, 'encode'],
    [1, 'run'],
  ] as const) {
    const bindings = { [x.id]: onGpu[n][0], [w.id]: onGpu[n][1], [y.id]: target };
    if (how === 'run') await compiled.execute(bindings);
    else {
      await ctx.submitted();
      const encoder = ctx.device.createCommandEncoder();
      compiled.encode(encoder, bindings);
      ctx.device.queue.submit([encoder.finish()]);
    }
    const expected = await graph.run(cpuEngine(), { [x.id]: given[n][0], [w.id]: given[n][1] });
    await expectSame(engine, [target], [expected[y.id]]);
  }
  compiled.release();
});

test('a destroyed tensor is refused, although it was bound to the last run', async () => {
  const { engine } = await sharedGpu();
  const run = compile(engine, fn, specs);
  const given = { x: engine.upload(sines(shape, 1)), w: engine.upload(sines([8, 8], 2)), scale: 1 };
  for (let round = 0; round < 3; round++) await run(given);
  given.w.destroy();
  await expect(run(given)).rejects.toThrow('was destroyed');
  const w = engine.upload(sines([8, 8], 3));
  const expected = await expectedOf({
    x: sines(shape, 1),
    w: sines([8, 8], 3),
    scale: Tensor.from([1], []),
  });
  await expectSame(engine, await run({ ...given, w }), expected);
  run.release();
});

test('a result that is destroyed while a run waits for a number is not written', async () => {
  const { engine } = await sharedGpu();
  const g = new GraphBuilder();
  const [q, k, v] = [g.input([1, 2, 12, 8]), g.input([1, 2, 16, 8]), g.input([1, 2, 16, 8])];
  const scale = g.scalar(0.5);
  const scores = g.op('Multiply', [g.op('MatMul', [q, k], { transpose_b: true }), scale]);
  const y = g.op('Tanh', [g.op('MatMul', [g.softmax(scores)[0], v])]);
  g.graph.finalize();
  const compiled = g.graph.compile(engine);
  const bound = Object.fromEntries(
    [q, k, v].map(({ id }) => [id, engine.upload(g.bindings[id] as Tensor)] as const),
  );
  // The host reads the scale back, because it is on the device.
  bound[scale.id] = engine.upload(Tensor.from([0.5], []));
  const result = engine.primitives.allocate({ dtype: 'f32', shape: [1, 2, 12, 8] });
  for (let round = 0; round < 3; round++) await compiled.execute({ ...bound, [y.id]: result });
  const waiting = compiled.execute({ ...bound, [y.id]: result }).catch(String);
  for (let n = 0; n < 20; n++) await Promise.resolve();
  engine.release(result);
  const other = engine.upload(Tensor.from(new Array(192).fill(42), [1, 2, 12, 8]));
  expect(other.buffer).toBe(result.buffer);
  expect(await waiting).toContain('was destroyed');
  expect((await engine.download(other)).toFloat32()[0]).toBe(42);
  compiled.release();
});

test('a repeated run with new numbers makes no buffer and no bind group', async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  const ctx = await createContext({ adapter });
  const engine = webgpuEngine(ctx);
  const run = compile(engine, fn, specs);
  const w = engine.upload(sines([8, 8], 2));
  const outputs = run.results.map(desc => engine.primitives.allocate(desc));
  for (const seed of [1, 2, 3]) {
    await run({ x: sines(shape, seed), w, scale: seed }, outputs);
    await ctx.submitted();
  }
  const created = (['createBuffer', 'createBindGroup'] as const).map(name => vi.spyOn(ctx.device, name));
  const write = vi.spyOn(ctx.device.queue, 'writeBuffer');
  await run({ x: sines(shape, 4), w, scale: 4 }, outputs);
  for (const calls of created) expect(calls).not.toHaveBeenCalled();
  expect(write).toHaveBeenCalledTimes(2);
  run.release();
  ctx.destroy();
});

test('a seed of dropout that is the same in every call is not read back', async () => {
  const { engine } = await sharedGpu();
  const download = vi.fn(engine.download);
  const dropout = { p: 0.5, seed: 3n, offset: 1n };
  const dropped = ({ x }: Readonly<Record<'x', Variable>>) => attention(x, x, x, { dropout });
  const watched: TensorEngine<GpuTensor> = { ...engine, download };
  const run = compile(watched, dropped, { x: shape });
  const x = sines(shape, 1);
  const expected = await compile(cpuEngine(), dropped, { x: shape })({ x });
  for (let round = 0; round < 2; round++) await expectSame(engine, [await run({ x })], [expected]);
  expect(download).not.toHaveBeenCalled();
  run.release();
});

test('a scale that a score mod also captures is read from the tensor of the run', async () => {
  const { engine } = await sharedGpu();
  const g = new Graph();
  const [q, k, slope, o] = [shape, shape, [1], shape].map(extents =>
    g.tensor({ dtype: 'f32', shape: extents }),
  );
  const near = scoreMod(({ score, q: row, kv }) =>
    minus(score, times(load('slope', [0]), toF32(minus(row, kv)))),
  );
  const attrs = {
    operands: 'q k v scale captures.slope',
    results: 'o',
    score_mod: JSON.stringify(flatten(near.expr)),
  };
  g.op('Sdpa', { attrs, inputs: [q, k, k, slope, slope], outputs: [o] });
  const compiled = g.finalize().compile(engine);
  const [rows, keys] = [sines(shape, 1), sines(shape, 2)];
  const slopes = [0.25, 0.25].map(x => engine.upload(Tensor.from([x], [1])));
  const result = engine.primitives.allocate({ dtype: 'f32', shape });
  const given = { [q.id]: engine.upload(rows), [k.id]: engine.upload(keys), [o.id]: result };
  const { o: expected } = await cpuEngine().sdpa(rows, keys, keys, {
    scale: 0.25,
    scoreMod: { ...near, captures: { slope: Tensor.from([0.25], [1]) } },
  });
  for (const n of [0, 0, 0, 1, 1]) {
    if (n === 1) engine.overwrite?.(slopes[0], Tensor.from([-7], [1]));
    await compiled.execute({ ...given, [slope.id]: slopes[n] });
    await expectSame(engine, [result], [expected]);
  }
});
