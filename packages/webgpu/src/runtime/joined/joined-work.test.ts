import type { Tensor, TensorDesc } from '@tilewise/core';
import { add, exp, mul } from '@tilewise/core/expr';
import { type BoundWork, input, type Primitive, type TensorEngine } from '@tilewise/core/primitive';
import { isFuzzing } from '@tilewise/test-data/random-problem';
import { countWork, openGpu, type Work } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { numbers } from '../../../testing/primitive/primitive-run.ts';
import { createContext, type GpuContext, type GpuTensor, webgpuEngine } from '../../index.ts';

let ctx: GpuContext;
let engine: TensorEngine<GpuTensor>;
let work: Work;
beforeAll(async () => {
  const { adapter } = await openGpu();
  ctx = await createContext({ adapter });
  engine = webgpuEngine(ctx);
  work = countWork(ctx.device);
});
afterAll(() => ctx.destroy());

const matmul: Primitive = { kind: 'matmul' };
const doubled: Primitive = { kind: 'map', value: mul(2, input(0)) };
const halved: Primitive = { kind: 'map', value: mul(0.5, input(0)) };
const damped: Primitive = { kind: 'map', value: mul(0.25, add(input(0), input(1))) };
const summed: Primitive = { kind: 'map', value: add(input(0), exp(input(1))) };

const filled = (shape: readonly number[], seed: number): Tensor => numbers(shape, seed, { behind: 0 });

/** Work of a primitive on these tensors. */
function bound(primitive: Primitive, inputs: readonly GpuTensor[], outputs: readonly GpuTensor[]): BoundWork {
  const descs = (tensors: readonly TensorDesc[]): TensorDesc[] =>
    tensors.map(({ dtype, shape, strides }) => ({ dtype, shape, strides }));
  const found = engine.primitives.prepare(primitive, descs(inputs), descs(outputs)).bind?.(inputs, outputs);
  if (!found) throw new Error('the primitive was not bound');
  return found;
}

/** The dispatches of one run. */
async function dispatchesOf(run: () => void): Promise<number> {
  const before = work.dispatches;
  engine.batch(run);
  await ctx.submitted();
  return work.dispatches - before;
}

/** The joined work, once its code is loaded and its kernels are compiled: it takes fewer dispatches. */
async function joinedOf(
  works: readonly BoundWork[],
  isJoined: (dispatches: number) => boolean,
): Promise<BoundWork> {
  const found = await vi.waitFor(
    () => {
      const joined = engine.primitives.join?.(works);
      if (!joined) throw new Error('the code is not loaded yet');
      return joined;
    },
    { timeout: 60_000 },
  );
  await vi.waitFor(async () => expect(isJoined(await dispatchesOf(() => found.run()))).toBe(true), {
    timeout: 60_000,
  });
  return found;
}

const runAll = (works: readonly BoundWork[]): void => {
  for (const own of works) own.run();
};
const allocate = (shape: readonly number[], dtype: TensorDesc['dtype'] = 'f32'): GpuTensor =>
  engine.primitives.allocate({ dtype, shape });
const read = async (tensor: GpuTensor): Promise<number[]> => [...(await engine.download(tensor)).toFloat32()];

test('products of one input share a dispatch, and so do the steps after them', async () => {
  const x = engine.upload(filled([1, 48], 1));
  const weights = [32, 20, 7].map((N, n) => engine.upload(filled([48, N], n + 2)));
  const products = weights.map(({ shape: [, N] }) => allocate([1, N]));
  const results = products.map(({ shape }) => allocate(shape));
  // In the order of a model: each product is followed by the step that reads the product.
  const works = weights.flatMap((w, n) => [
    bound(matmul, [x, w], [products[n]]),
    bound(doubled, [products[n]], [results[n]]),
  ]);
  expect(await dispatchesOf(() => runAll(works))).toBe(6);
  const expected = await Promise.all(results.map(read));
  const joined = await joinedOf(works, n => n === 2);

  engine.overwrite?.(x, filled([1, 48], 9));
  await dispatchesOf(() => runAll(works));
  const changed = await Promise.all(results.map(read));
  expect(changed).not.toEqual(expected);
  engine.overwrite?.(x, filled([1, 48], 1));
  expect(await dispatchesOf(() => joined.run())).toBe(2);
  expect(await Promise.all(results.map(read))).toEqual(expected);
});

test('steps that read or overwrite what other steps write keep their order', async () => {
  const [a, b, c, d] = [1, 2, 3, 4].map(seed => engine.upload(filled([70], seed)));
  const works = [
    bound(summed, [a, b], [c]),
    // Reads what the first step writes.
    bound(doubled, [c], [d]),
    // Overwrites what the first step reads, and reads what nothing has written.
    bound(doubled, [b], [a]),
    // Overwrites what the first step writes.
    bound(doubled, [b], [c]),
  ];
  const separate = async (): Promise<number[][]> => {
    engine.overwrite?.(a, filled([70], 1));
    await dispatchesOf(() => runAll(works));
    return Promise.all([a, c, d].map(read));
  };
  const expected = await separate();
  // The second and the third step share a dispatch.
  const joined = await joinedOf(works, n => n === 3);
  engine.overwrite?.(a, filled([70], 1));
  await dispatchesOf(() => joined.run());
  expect(await Promise.all([a, c, d].map(read))).toEqual(expected);
});

test('results in one buffer, of 16 bits, and in place are right', async () => {
  const halves = engine.upload(filled([40], 1).cast('f16'));
  const block = allocate([128]);
  const [low, high] = [0, 64].map(offset =>
    engine.primitives.view(block, { shape: [64], strides: [1], offset }),
  );
  const [source, counter] = [filled([64], 3), filled([64], 4)].map(tensor => engine.upload(tensor));
  const narrow = allocate([40], 'f16');
  const works = [
    bound(doubled, [source], [low]),
    bound(doubled, [source], [high]),
    bound(doubled, [halves], [narrow]),
    bound(doubled, [counter], [counter]),
  ];
  // The two halves of the block are written by two dispatches, because a device may bind a buffer that one
  // kernel writes only once.
  const joined = await joinedOf(works, n => n === 2);
  engine.overwrite?.(counter, filled([64], 4));
  await dispatchesOf(() => joined.run());
  const twice = (tensor: Tensor): number[] => [...tensor.toFloat32()].map(x => Math.fround(2 * x));
  expect(await read(block)).toEqual([...twice(filled([64], 3)), ...twice(filled([64], 3))]);
  expect(await read(counter)).toEqual(twice(filled([64], 4)));
  expect(await read(narrow)).toEqual(twice(filled([40], 1).cast('f16')));
});

const PROGRAMS = isFuzzing() ? 40 : 4;
test(`${PROGRAMS} random programs, whose steps overwrite tensors, give the same bits joined and one by one`, {
  timeout: 300_000,
}, async () => {
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    let state = seed * 7919;
    const below = (n: number): number => {
      state = (state * 48271) % 2147483647;
      return state % n;
    };
    const start = Array.from({ length: 6 }, (_, n) => filled([1, 24], seed + n));
    const tensors = start.map(tensor => engine.upload(tensor));
    const weights = [1, 2].map(n => engine.upload(filled([24, 24], seed + n)));
    const works = Array.from({ length: 12 }, () => {
      const [to, a, b] = [below(6), below(6), below(6)].map(n => tensors[n]);
      const kind = below(3);
      // A product must not write what it reads; a map may.
      if (kind === 0 && a !== to) return bound(matmul, [a, weights[below(2)]], [to]);
      return kind === 1 ? bound(damped, [a, b], [to]) : bound(halved, [a], [to]);
    });
    const results = async (run: () => void): Promise<number[][]> => {
      for (const [n, tensor] of tensors.entries()) engine.overwrite?.(tensor, start[n]);
      await dispatchesOf(run);
      return Promise.all(tensors.map(read));
    };
    const expected = await results(() => runAll(works));
    const joined = await joinedOf(works, n => n < works.length);
    expect(await results(() => joined.run()), `program ${seed}`).toEqual(expected);
    for (const own of [joined, ...works]) own.release();
  }
});

test('joined work on a tensor that was destroyed is refused', async () => {
  const [x, y, z] = [1, 2, 3].map(seed => engine.upload(filled([16], seed)));
  const joined = await joinedOf([bound(doubled, [x], [y]), bound(doubled, [x], [z])], n => n === 1);
  engine.release(y);
  expect(() => engine.batch(() => joined.run())).toThrow('outputs[0] was destroyed');
});

test('the memory of joined work is freed, even while a batch is open', async () => {
  const [x, y, z] = [1, 2, 3].map(seed => engine.upload(filled([16], seed)));
  const works = [bound(doubled, [x], [y]), bound(doubled, [x], [z])];
  await dispatchesOf(() => runAll(works));
  const before = ctx.memory.current;
  const joined = await joinedOf(works, n => n === 1);
  expect(ctx.memory.current).toBeGreaterThan(before);
  engine.batch(() => {
    joined.run();
    joined.release();
  });
  await ctx.submitted();
  expect(ctx.memory.current).toBe(before);
  expect(await read(y)).toEqual([...filled([16], 1).toFloat32()].map(n => Math.fround(2 * n)));
});

test('if a device does not compile a kernel, the works run one by one', async () => {
  const [x, y, z] = [1, 2, 3].map(seed => engine.upload(filled([16], seed)));
  // No other test has the kernel with both maps.
  const scaled: Primitive = { kind: 'map', value: mul(3.25, input(0)) };
  const works = [bound(scaled, [x], [y]), bound(scaled, [x], [z])];
  await dispatchesOf(() => runAll(works));
  const create = vi.spyOn(ctx.device, 'createComputePipelineAsync').mockRejectedValue(new Error('no'));
  const joined = await joinedOf(works, n => n === 2);
  expect(create).toHaveBeenCalledTimes(1);
  create.mockRestore();
  await ctx.device.queue.onSubmittedWorkDone();
  expect(await dispatchesOf(() => joined.run())).toBe(2);
});

test('kernels that a trace times are not joined', async () => {
  const traced = Object.assign(await createContext({ device: ctx.device }), { trace: {} });
  const own = webgpuEngine(traced as unknown as GpuContext);
  expect(own.primitives.join?.([])).toBeNull();
  await new Promise(resolve => setTimeout(resolve, 50));
  expect(own.primitives.join?.([])).toBeNull();
});
