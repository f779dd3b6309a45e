import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { createContext, type GpuContext, type GpuTensor, sdpa, webgpuEngine } from '@tilewise/webgpu';
import { countingDevice } from '@tilewise/webgpu-host';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';

/**
 * Attention with dropout and surrounding operations: tanh(dropout(softmax(scale·q·kᵀ))·v + bias), and its
 * sum.
 */
function attentionGraph() {
  const g = new GraphBuilder();
  const [q, k, v] = [g.input([1, 2, 12, 8]), g.input([1, 2, 16, 8]), g.input([1, 2, 16, 8])];
  const bias = g.input([8]);
  const [scale, seed, offset, p] = [g.scalar(0.5), g.scalar(7n, 'i64'), g.scalar(1n, 'i64'), g.scalar(0.25)];
  const scores = g.op('Multiply', [g.op('MatMul', [q, k], { transpose_b: true }), scale]);
  const [probabilities] = g.softmax(scores);
  const o = g.op('MatMul', [g.op('Dropout', [probabilities, seed, offset, p]), v]);
  const y = g.op('Tanh', [g.op('Add', [o, bias])]);
  const sum = g.op('ReduceSum', [y], { axes: [0, 1, 2, 3], keep_dims: false });
  g.graph.op('End', { inputs: [y], outputs: [] });
  g.graph.finalize();
  return { g, tensors: { q, k, v, bias }, numbers: { scale, seed, offset, p }, y, sum };
}

/** The graph on the caller's device, with its tensors uploaded and its results allocated. */
async function prepared() {
  const { device, counts } = await countingDevice();
  const ctx = await createContext({ device });
  const engine = webgpuEngine(ctx);
  const { g, tensors, numbers, y, sum } = attentionGraph();
  const compiled = g.graph.compile(engine);
  const bindings: Record<number, GpuTensor | Tensor | number | bigint> = { ...g.bindings };
  for (const t of Object.values(tensors)) bindings[t.id] = ctx.upload(g.bindings[t.id] as Tensor);
  for (const t of compiled.outputs) bindings[t.id] = ctx.allocate(t.shape ?? [], 'f32');
  const expected = (changes: Readonly<Record<number, number | bigint>> = {}) =>
    g.graph.run(referenceEngine(), { ...g.bindings, ...changes }, { policy: 'debug' });
  return { ctx, device, counts, engine, g, tensors, numbers, y, sum, compiled, bindings, expected };
}

async function read(ctx: GpuContext, tensor: unknown): Promise<Float64Array> {
  return (await ctx.download(tensor as GpuTensor)).toFloat64();
}

function expectClose(actual: Float64Array, expected: Tensor, tolerance = 1e-5): void {
  const want = expected.toFloat64();
  const largest = want.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const worst = want.reduce((most, x, n) => Math.max(most, Math.abs(x - actual[n])), 0);
  expect(worst).toBeLessThanOrEqual(tolerance * largest);
}

describe('a compiled graph on WebGPU', () => {
  test('is recorded in the caller’s encoder; the second time nothing is created, submitted or read', async () => {
    const { ctx, device, counts, compiled, bindings, expected, y, sum } = await prepared();
    const encoder = device.createCommandEncoder();
    compiled.encode(encoder, bindings);
    const before = { ...counts };
    const second = device.createCommandEncoder();
    compiled.encode(second, bindings);
    const pass = second.beginComputePass();
    compiled.encode(pass, bindings);
    pass.end();
    expect(counts).toEqual(before);
    expect(counts.submissions).toBe(0);
    device.queue.submit([encoder.finish(), second.finish()]);
    const results = await expected();
    expectClose(await read(ctx, bindings[y.id]), results[y.id]);
    expectClose(await read(ctx, bindings[sum.id]), results[sum.id]);
    compiled.release();
    ctx.destroy();
  });

  test('takes scale, seed, offset and p as numbers, which differ each time', async () => {
    const { ctx, device, compiled, bindings, expected, numbers, y } = await prepared();
    const { scale, seed, offset, p } = numbers;
    for (const changes of [
      { [scale.id]: 0.125 },
      { [seed.id]: 2n ** 40n + 5n, [offset.id]: 3n },
      { [p.id]: 0.7 },
      { [p.id]: 1 },
    ]) {
      const encoder = device.createCommandEncoder();
      compiled.encode(encoder, { ...bindings, ...changes });
      device.queue.submit([encoder.finish()]);
      expectClose(await read(ctx, bindings[y.id]), (await expected(changes))[y.id]);
    }
    ctx.destroy();
  });

  test('is not recorded in part if a later partition cannot be recorded yet', async () => {
    const { ctx, device, engine } = await prepared();
    const g = new GraphBuilder();
    const [x, k] = [g.input([1, 2, 4, 8]), g.input([1, 2, 4, 8])];
    const doubled = g.op('Add', [x, x]);
    g.graph.op('End', { inputs: [doubled], outputs: [] });
    const [probabilities] = g.softmax(g.op('MatMul', [doubled, k], { transpose_b: true }));
    g.op('MatMul', [probabilities, k]);
    const compiled = g.graph.compile(engine);
    expect(compiled.partitions).toHaveLength(2);
    const [onGpu, operand] = [x, k].map(({ id }) => ctx.upload(g.bindings[id] as Tensor));
    const { o: late } = sdpa(ctx, operand, operand, operand, { softcap: 3 });
    const bindings: Record<number, GpuTensor> = { [x.id]: onGpu, [k.id]: late };
    for (const t of compiled.outputs) bindings[t.id] = ctx.allocate(t.shape ?? [], 'f32');
    // The first partition writes its result in the place of x.
    bindings[doubled.id] = onGpu;
    const encoder = device.createCommandEncoder();
    expect(() => compiled.encode(encoder, bindings)).toThrow(/await ctx\.submitted\(\) first/);
    await ctx.submitted();
    compiled.encode(encoder, bindings);
    device.queue.submit([encoder.finish()]);
    const expected = (g.bindings[x.id] as Tensor).toFloat64().map(value => 2 * value);
    expect(await read(ctx, onGpu)).toEqual(expected);
    ctx.destroy();
  });

  test('another scale is another number of the same problem: nothing is planned anew', async () => {
    const { ctx, engine, g, bindings, expected, numbers, y } = await prepared();
    const { prepareAttention } = engine;
    let planned = 0;
    const compiled = g.graph.compile({
      ...engine,
      prepareAttention:
        prepareAttention &&
        (problem => {
          planned++;
          return prepareAttention(problem);
        }),
    });
    await compiled.execute(bindings);
    const before = planned;
    expect(before).toBeGreaterThan(0);
    for (const scale of [-2, 0.125]) {
      await compiled.execute({ ...bindings, [numbers.scale.id]: scale });
      expectClose(await read(ctx, bindings[y.id]), (await expected({ [numbers.scale.id]: scale }))[y.id]);
    }
    expect(planned).toBe(before);
    ctx.destroy();
  });

  test('with a fill that masks nothing, the scale multiplies the scores once', async () => {
    const { ctx, engine } = await prepared();
    const g = new GraphBuilder();
    const [q, k, v] = [g.input([1, 2, 12, 8]), g.input([1, 2, 16, 8]), g.input([1, 2, 16, 8])];
    const scaled = g.op('Multiply', [g.op('MatMul', [q, k], { transpose_b: true }), g.scalar(0.5)]);
    const visible = g.input([12, 16], {
      dtype: 'bool',
      values: Array.from({ length: 192 }, (_, n) => n % 3),
    });
    const [p] = g.softmax(g.op('Select', [visible, scaled, g.scalar(-1)]));
    const o = g.op('MatMul', [p, v]);
    const results = await g.graph.run(engine, g.bindings);
    const expected = await g.graph.run(referenceEngine(), g.bindings, { policy: 'debug' });
    expectClose(await read(ctx, results[o.id]), expected[o.id]);
    ctx.destroy();
  });

  test('all numbers that one encoder uses are kept until it is submitted', async () => {
    const { ctx, device, compiled, bindings, expected, numbers, y } = await prepared();
    const encoder = device.createCommandEncoder();
    const runs = Array.from({ length: 20 }, (_, n) => {
      const result = ctx.allocate([1, 2, 12, 8], 'f32');
      compiled.encode(encoder, { ...bindings, [numbers.scale.id]: 0.05 * (n + 1), [y.id]: result });
      return result;
    });
    device.queue.submit([encoder.finish()]);
    for (const n of [0, 3, 19]) {
      const want = (await expected({ [numbers.scale.id]: 0.05 * (n + 1) }))[y.id];
      expectClose(await read(ctx, runs[n]), want);
    }
    compiled.release();
    ctx.destroy();
  });

  test('is submitted once when it is executed, and allocates only results', async () => {
    const { ctx, counts, compiled, bindings, expected, y } = await prepared();
    await compiled.execute(bindings);
    await ctx.submitted();
    const before = { ...counts };
    await compiled.execute(bindings);
    expect(compiled.partitions.length).toBeGreaterThan(1);
    expect(counts).toEqual({ ...before, submissions: before.submissions + 1 });
    expectClose(await read(ctx, bindings[y.id]), (await expected())[y.id]);
    ctx.destroy();
  });

  test('is submitted once by run, too', async () => {
    const { ctx, counts, engine, g, bindings, expected, y } = await prepared();
    const inputs = Object.fromEntries(g.graph.inputs.map(({ id }) => [id, bindings[id]]));
    const run = async (): Promise<void> => {
      const results = await g.graph.run(engine, inputs);
      expectClose(await read(ctx, results[y.id]), (await expected())[y.id]);
      for (const tensor of Object.values(results)) tensor.destroy();
    };
    await run();
    const [before, { current }] = [{ ...counts }, ctx.memory];
    await run();
    // The second submission reads the result.
    expect(counts.submissions - before.submissions).toBe(2);
    expect(ctx.memory.current).toBe(current);
    ctx.destroy();
  });

  test('reads back a number that is only on the device', async () => {
    const { ctx, compiled, bindings, expected, numbers, y } = await prepared();
    const scale = ctx.upload(Tensor.from([0.125], []));
    await compiled.execute({ ...bindings, [numbers.scale.id]: scale });
    expectClose(await read(ctx, bindings[y.id]), (await expected({ [numbers.scale.id]: 0.125 }))[y.id]);
    ctx.destroy();
  });

  test('reports how much memory it holds', async () => {
    const { ctx, g, engine } = await prepared();
    const held = ctx.memory.current;
    const compiled = g.graph.compile(engine);
    expect(compiled.workspaceBytes).toBeGreaterThan(0);
    expect(ctx.memory.current - held).toBeGreaterThanOrEqual(compiled.workspaceBytes);
    ctx.destroy();
  });
});

describe('encoding refuses', () => {
  const nameOf = (t: LogicalTensor): RegExp => new RegExp(`tensor ${t.id}\\b`);

  test('missing, unknown or host tensors, and a target that is not an encoder', async () => {
    const { ctx, device, compiled, bindings, numbers, tensors, y, sum, g } = await prepared();
    const encoder = device.createCommandEncoder();
    let passes = 0;
    const begin = encoder.beginComputePass.bind(encoder);
    encoder.beginComputePass = (...args) => {
      passes++;
      return begin(...args);
    };
    const without = ({ id }: LogicalTensor) =>
      Object.fromEntries(Object.entries(bindings).filter(([name]) => name !== String(id)));
    expect(() => compiled.encode(encoder, without(y))).toThrow(nameOf(y));
    expect(() => compiled.encode(encoder, without(tensors.q))).toThrow(nameOf(tensors.q));
    const onHost = { ...bindings, [tensors.q.id]: g.bindings[tensors.q.id] };
    expect(() => compiled.encode(encoder, onHost)).toThrow(/must be a tensor of the engine/);
    const scale = ctx.upload(Tensor.from([0.5], []));
    expect(() => compiled.encode(encoder, { ...bindings, [numbers.scale.id]: scale })).toThrow(
      /has a number that attention needs/,
    );
    expect(() => compiled.encode({}, bindings)).toThrow(/must be a GPUCommandEncoder or/);
    expect(() => compiled.encode(encoder, { ...bindings, 999: scale })).toThrow(/bindings has '999'/);
    const [first] = compiled.partitions;
    expect(() => first.encode(encoder, { ...bindings, 999: scale })).toThrow(/bindings has '999'/);
    const { [sum.id]: _, ...lastMissing } = bindings;
    expect(() => compiled.encode(encoder, lastMissing)).toThrow(nameOf(sum));
    compiled.release();
    expect(() => compiled.encode(encoder, bindings)).toThrow('graph has been released');
    expect(passes).toBe(0);
    ctx.destroy();
  });

  test('engines of the host', () => {
    const compiled = attentionGraph().g.graph.compile(referenceEngine());
    expect(() => compiled.encode({}, {})).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});
