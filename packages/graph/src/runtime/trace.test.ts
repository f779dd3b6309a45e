import { readFileSync } from 'node:fs';
import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { createContext, sdpa, webgpuEngine } from '@tilewise/webgpu';
import { createTrace, formatTrace, type TraceEvent, takeTrace, traceTable } from '@tilewise/webgpu/trace';
import { openGpu } from '@tilewise/webgpu-host';
import { Ajv } from 'ajv';
import { beforeAll, expect, test } from 'vitest';
import * as t from '../frontends/functions/index.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../testing/trace-event-format.schema.json', import.meta.url), 'utf8'),
);
let adapter: () => Promise<GPUAdapter>;
beforeAll(() => {
  adapter = async () =>
    (await openGpu({ dawnFlags: ['disable-dawn-features=timestamp_quantization'] })).adapter;
});

const [S, D, heads] = [512, 64, 4];
const loss = ({ x, q, k, v, o }: Record<string, t.Variable>) => {
  const split = (w: t.Variable) =>
    t.transpose(t.reshape(t.matmul(x, w), [1, S, heads, D / heads]), [0, 2, 1, 3]);
  const a = t.attention(split(q), split(k), split(v), { causal: true });
  const y = t.matmul(t.reshape(t.transpose(a, [0, 2, 1, 3]), [S, D]), o);
  return t.reduceMean(t.square(t.subtract(y, x)), { axes: [0, 1] });
};
const weights = ['q', 'k', 'v', 'o'];
const specs = { x: [S, D], q: [D, D], k: [D, D], v: [D, D], o: [D, D] };
const inputs = Object.fromEntries(
  Object.entries(specs).map(([name, shape]) => [
    name,
    Tensor.from(
      Float32Array.from({ length: shape[0] * shape[1] }, (_, n) => 0.2 * Math.sin(n * n)),
      shape,
    ),
  ]),
) as Record<keyof typeof specs, Tensor>;
const total = (events: readonly TraceEvent[], cat: string): number =>
  traceTable(events, cat as 'kernel').reduce((sum, { ms }) => sum + ms, 0);

test('the trace of a training step has the format, names kernels and partitions, and adds up to its pass', async () => {
  const trace = createTrace();
  const ctx = await createContext({ adapter: await adapter(), trace });
  const step = t.compile(webgpuEngine(ctx), t.valueAndGrad(loss, weights), specs, { trace });
  const warm = await step(inputs);
  await ctx.download(warm.value);
  await takeTrace(trace);
  const { value } = await step(inputs);
  await ctx.download(value);
  const file = await takeTrace(trace);

  const validate = new Ajv().compile(schema);
  validate(JSON.parse(JSON.stringify(file)));
  expect(validate.errors).toBeNull();

  const { traceEvents } = file;
  const names = traceTable(traceEvents).map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['attention forward', 'attention dq', 'attention dk dv', 'matmul']),
  );
  const partitions = traceTable(traceEvents, 'partition').map(({ name }) => name);
  // A device runs the whole step as one partition.
  expect(partitions).toEqual([expect.stringMatching(/^operations /)]);
  const kernels = traceEvents.filter(({ cat }) => cat === 'kernel');
  expect(kernels.every(({ args }) => args?.partition !== undefined)).toBe(true);

  const [sum, pass] = [total(traceEvents, 'kernel'), total(traceEvents, 'pass')];
  expect(pass).toBeGreaterThan(50);
  expect(sum / pass).toBeGreaterThan(0.9);
  expect(sum / pass).toBeLessThanOrEqual(1);
  expect(total(traceEvents, 'partition')).toBeLessThanOrEqual(pass);

  const text = formatTrace(traceEvents);
  expect(text.split('\n')[0]).toMatch(/^kernel +calls +ms +ms each +%$/);
  expect(text).toContain('attention forward');
  expect((await takeTrace(trace)).traceEvents.every(({ ph }) => ph === 'M')).toBe(true);
  ctx.destroy();
});

test('a traced run gives the bits of one that is not traced', async () => {
  const results: Float32Array[] = [];
  const device = await (await adapter()).requestDevice({ requiredFeatures: ['timestamp-query'] });
  for (const trace of [undefined, createTrace()]) {
    const ctx = await createContext({ device, trace });
    const x = ctx.upload(inputs.x.slice(0, 0, 4).reshape([1, 1, 32, 8]));
    results.push((await ctx.download(sdpa(ctx, x, x, x, { causal: true }).o)).toFloat32());
    ctx.destroy();
  }
  expect(results[1]).toEqual(results[0]);
});

test('a graph on the CPU engine is traced too: its steps, by the clock of the thread', async () => {
  const trace = createTrace();
  const step = t.compile(cpuEngine(), t.valueAndGrad(loss, weights), specs, { trace });
  await step(inputs);
  const { traceEvents } = await takeTrace(trace);
  const named = traceEvents.filter(({ cat }) => cat === 'partition').map(({ name }) => name);
  expect(named.length).toBeGreaterThan(4);
  expect(named).toEqual(expect.arrayContaining(['matmul', 'sdpa', 'sdpa-backward']));
});

test('a device without timestamps, and a second device, are refused', async () => {
  const trace = createTrace();
  const from = await adapter();
  const device = await from.requestDevice();
  await expect(createContext({ device, trace })).rejects.toThrow("lacks the feature 'timestamp-query'");
  const ctx = await createContext({ adapter: await adapter(), trace });
  await expect(createContext({ adapter: await adapter(), trace })).rejects.toThrow('times another device');
  ctx.destroy();
});
