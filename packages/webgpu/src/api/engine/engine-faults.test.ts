import { normalise, Tensor } from '@tilewise/core';
import { add } from '@tilewise/core/expr';
import { input, type PreparedPrimitive, reduced } from '@tilewise/core/primitive';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callersDevice, storageBuffer } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { createContext, type GpuContext, type GpuTensor, planSdpa, sdpa, webgpuEngine } from '../../index.ts';

let ctx: GpuContext;
let engine: ReturnType<typeof webgpuEngine>;
/** Writes its input of four elements, doubled. */
let twice: PreparedPrimitive<GpuTensor>;
beforeEach(async () => {
  ctx = await createContext({ device: (await sharedContext()).device });
  engine = webgpuEngine(ctx);
  const desc = { dtype: 'f32', shape: [4], strides: [1] } as const;
  twice = engine.primitives.prepare({ kind: 'map', value: add(input(0), input(0)) }, [desc], [desc]);
});
afterEach(() => ctx.destroy());

const up = (...numbers: number[]): GpuTensor => engine.upload(Tensor.from(numbers, [numbers.length]));
const space = (): GpuTensor => ctx.allocate([4], 'f32');
const destroyed = (): GpuTensor => {
  const buffer = storageBuffer(ctx.device, 16);
  const tensor = ctx.wrap(buffer, { dtype: 'f32', shape: [4] });
  buffer.destroy();
  return tensor;
};
const doubled = (x: GpuTensor, y = space()): GpuTensor => {
  twice.run([x], [y]);
  return y;
};
const rejected = { code: 'INVALID_ARGUMENT' };
const expectFault = async (tensor: GpuTensor, fault: object = rejected): Promise<void> => {
  await expect(engine.download(tensor)).rejects.toMatchObject(fault);
};
const expectNumbers = async (tensor: GpuTensor, ...numbers: number[]): Promise<void> => {
  expect([...(await engine.download(tensor)).toFloat32()]).toEqual(numbers);
};

describe('an error of the GPU in the work of an engine', () => {
  test('rejects each read of its results, and no other call', async () => {
    const bad = doubled(destroyed());
    const good = doubled(up(1, 2, 3, 4));
    await expectNumbers(good, 2, 4, 6, 8);
    await expectFault(bad);
    await expectFault(bad);
    await expect(ctx.download(bad)).rejects.toMatchObject(rejected);
    await expect(ctx.download(ctx.view(bad, { shape: [2, 2] }))).rejects.toMatchObject(rejected);
    await expectNumbers(good, 2, 4, 6, 8);
  });

  test('whichever result is read first', async () => {
    const bad = doubled(destroyed());
    const good = doubled(up(1, 2, 3, 4));
    await Promise.all([expectNumbers(good, 2, 4, 6, 8), expectFault(bad)]);
  });

  test('spreads to results computed from its results: by the engine, an eager call, a plan of the caller', async () => {
    const bad = doubled(destroyed());
    await expectFault(bad);
    await expectFault(doubled(doubled(bad)));
    const q = ctx.view(bad, { shape: [1, 1, 1, 4] });
    const { o } = sdpa(ctx, q, q, q);
    await expectFault(o);

    const operand = Tensor.zeros([1, 1, 1, 4]);
    const plan = planSdpa(ctx, normalise({ q: operand, k: operand, v: operand }).problem);
    const results = { o: ctx.allocate([1, 1, 1, 4], 'f32'), lse: ctx.allocate([1, 1, 1], 'f32') };
    const encoder = ctx.device.createCommandEncoder();
    plan.encode(encoder, { q, k: q, v: q, ...results });
    ctx.device.queue.submit([encoder.finish()]);
    await expectFault(results.lse);
    plan.destroy();
  });

  test('ends when the results are written again', async () => {
    const [between, y] = [space(), space()];
    const run = (x: GpuTensor): void =>
      engine.batch(() => {
        twice.run([x], [between]);
        twice.run([between], [y]);
      });
    run(destroyed());
    await expectFault(y);
    run(up(1, 2, 3, 4));
    await expectNumbers(y, 4, 8, 12, 16);
    await expectNumbers(between, 2, 4, 6, 8);
  });

  test('does not end if writing them again fails before anything is submitted', async () => {
    const y = doubled(destroyed());
    expect(() =>
      engine.batch(() => {
        twice.run([up(1, 2, 3, 4)], [y]);
        throw new Error('enough');
      }),
    ).toThrow('enough');
    await expectFault(y);
  });

  test('belongs to a part of a buffer, and to every tensor there', async () => {
    const buffer = storageBuffer(ctx.device, 1024);
    const at = (offset: number): GpuTensor => ctx.wrap(buffer, { dtype: 'f32', shape: [4], offset });
    doubled(destroyed(), at(0));
    doubled(up(1, 2, 3, 4), at(256));
    await expectFault(at(0));
    await expectNumbers(at(256), 2, 4, 6, 8);
    await expectFault(ctx.wrap(buffer, { dtype: 'f32', shape: [2], offset: 8 }));
    await expectNumbers(doubled(up(1, 1, 1, 1), at(0)), 2, 2, 2, 2);
  });

  test('does not stay with freed memory', async () => {
    const bad = doubled(destroyed());
    const { buffer } = bad;
    bad.destroy();
    const good = up(1, 2, 3, 4);
    expect(good.buffer).toBe(buffer);
    await expectNumbers(good, 1, 2, 3, 4);
  });
});

test('all results report memory that the GPU lacks, and the next call asks for it again', async () => {
  const { device } = ctx;
  const create = device.createBuffer;
  device.createBuffer = descriptor => create.call(device, { ...descriptor, size: 2 ** 50 });
  const between = space();
  device.createBuffer = create;
  const results = [space(), space()];
  engine.batch(() => {
    twice.run([up(1, 2, 3, 4)], [between]);
    for (const y of results) twice.run([between], [y]);
  });
  for (const y of results) await expectFault(y, { code: 'OUT_OF_MEMORY' });
  engine.release(between);
  await expectNumbers(doubled(up(1, 2, 3, 4), space()), 2, 4, 6, 8);
});

test('reading in a failed batch rejects with the error of the batch', async () => {
  const read: Promise<Tensor>[] = [];
  const fail = (): void =>
    engine.batch(() => {
      read.push(engine.download(up(1, 2, 3, 4)));
      throw new Error('enough');
    });
  expect(fail).toThrow('enough');
  await expect(read[0]).rejects.toThrow('enough');
  // Nobody needs to handle the rejection: Node would end the process.
  expect(fail).toThrow('enough');
  await new Promise(resolve => setTimeout(resolve, 10));
});

test('work that waits for its kernels runs even after its plan was released, on empty tensors too', async () => {
  const own = await createContext({ device: await callersDevice(), maxIdleBytes: 0 });
  const { primitives } = webgpuEngine(own);
  const [from, to] = [
    [3, 0],
    [3, 1],
  ].map(shape => ({ dtype: 'f32', shape, strides: [1, 1] }) as const);
  const sum = { kind: 'reduce', op: 'sum', element: input(0), result: reduced, axes: [1] } as const;
  const prepared = primitives.prepare({ ...sum, domain: from.shape }, [from], [to]);
  const y = primitives.allocate(to);
  prepared.run([primitives.allocate(from)], [y]);
  prepared.release();
  expect([...(await own.download(y)).toFloat32()]).toEqual([0, 0, 0]);
  own.destroy();
});

test('numbers of runs are freed, wherever their tensors start', async () => {
  const buffer = storageBuffer(ctx.device, 1024);
  const y = space();
  const after = [0, 4, 260, 8, 0, 260].map(offset => {
    doubled(ctx.wrap(buffer, { dtype: 'f32', shape: [4], offset }), y);
    return ctx.memory.current;
  });
  // Measured after the plan for aligned tensors and the plan for unaligned ones have both been made.
  expect(new Set(after.slice(1))).toEqual(new Set([after[1]]));
});
