import { Tensor } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createContext, type GpuContext, type GpuTensor, webgpuEngine } from '@tilewise/webgpu';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import { sharedGpu } from '../../testing/compare/webgpu-engine.ts';
import {
  compile,
  matmul,
  reduceSum,
  softmax,
  transpose,
  type Variable,
} from '../frontends/functions/index.ts';

let ctx: GpuContext;
let engine: TensorEngine<GpuTensor>;
let createBuffer: GPUDevice['createBuffer'];
beforeEach(async () => {
  const { device } = (await sharedGpu()).ctx;
  createBuffer = device.createBuffer;
  ctx = await createContext({ device });
  engine = webgpuEngine(ctx);
});
afterEach(() => {
  ctx.device.createBuffer = createBuffer;
  ctx.destroy();
});

/** Lets the device run out of memory when a buffer of more bytes is created. */
function allowBuffersUpTo(bytes: number): void {
  const { device } = ctx;
  device.createBuffer = descriptor =>
    createBuffer.call(device, descriptor.size > bytes ? { ...descriptor, size: 2 ** 50 } : descriptor);
}

const shortOfMemory = { code: 'OUT_OF_MEMORY' };
/** The intermediate results take n² numbers. */
const columnSums = ({ x }: { readonly x: Variable }): Variable =>
  reduceSum(softmax(matmul(x, transpose(x, [1, 0]))), { axes: [0] });
const columnSumsOf = (n: number) => {
  const run = compile(engine, columnSums, { x: [n, 4] });
  const sums = Tensor.zeros([n]);
  return {
    run: async () => {
      await run({ x: Tensor.zeros([n, 4]) }, [sums]);
      return sums.get(0);
    },
    release: run.release,
  };
};

test('a function that found no memory for its intermediate results runs once there is memory', async () => {
  allowBuffersUpTo(40_000);
  const { run } = columnSumsOf(128);
  await expect(run()).rejects.toMatchObject(shortOfMemory);
  await expect(run()).rejects.toMatchObject(shortOfMemory);
  allowBuffersUpTo(Infinity);
  expect(await run()).toBeCloseTo(1, 5);
  expect(await run()).toBeCloseTo(1, 5);
});

test('a smaller function does not share memory that another function did not get', async () => {
  allowBuffersUpTo(40_000);
  const large = columnSumsOf(128);
  await expect(large.run()).rejects.toMatchObject(shortOfMemory);
  const small = columnSumsOf(64);
  expect(await small.run()).toBeCloseTo(1, 5);
  large.release();
  expect(await small.run()).toBeCloseTo(1, 5);
});

test('a graph that found no memory between its partitions runs once there is memory', async () => {
  const g = new GraphBuilder();
  const x = g.input([128, 128]);
  const y = g.op('Exp', [g.op('Tanh', [x])]);
  const graph = g.graph.finalize();
  allowBuffersUpTo(40_000);
  const compiled = graph.compile(engine, { policy: 'debug' });
  allowBuffersUpTo(Infinity);
  const values = Tensor.zeros([128, 128]);
  const run = () => compiled.execute({ [x.id]: values, [y.id]: values });
  await expect(run()).rejects.toMatchObject(shortOfMemory);
  await run();
  expect(values.get(5, 7)).toBe(1);
  compiled.release();
});

test('a host tensor that found no memory is uploaded again', async () => {
  const run = compile(engine, ({ x }) => reduceSum(x), { x: [4000] });
  const sum = Tensor.zeros([]);
  const x = Tensor.from(new Float32Array(4000).fill(2), [4000]);
  allowBuffersUpTo(10_000);
  await expect(run({ x }, [sum])).rejects.toMatchObject(shortOfMemory);
  allowBuffersUpTo(Infinity);
  await run({ x }, [sum]);
  expect(sum.get()).toBe(8000);
});
