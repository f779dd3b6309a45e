import { type Engine, normalise, Tensor } from '@tilewise/core';
import { mul } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { expect, test, vi } from 'vitest';
import { exactResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { callersDevice } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { createContext, type GpuTensor, webgpuEngine } from '../../index.ts';

test('a context is an engine: upload, attention forward and backward, download, release', async () => {
  const ctx = await createContext({ device: (await sharedContext()).device });
  const engine: Engine<GpuTensor> = webgpuEngine(ctx);
  expect(engine.name).toBe('webgpu');
  expect(engine.description).not.toBe('');
  const call = {
    q: normal([1, 2, 40, 8], 1),
    k: normal([1, 2, 40, 8], 2),
    v: normal([1, 2, 40, 8], 3),
    dO: normal([1, 2, 40, 8], 4),
    options: { causal: true },
  };
  const [q, k, v, dO] = [call.q, call.k, call.v, call.dO].map(t => engine.upload(t));
  const { o, lse } = await engine.sdpa(q, k, v, call.options);
  const { dq, dk, dv } = await engine.sdpaBackward({ q, k, v, o, lse, dO }, call.options);
  const got: Record<string, Tensor> = {};
  for (const [name, tensor] of Object.entries({ o, lse, dq, dk, dv }))
    got[name] = await engine.download(tensor);
  expectAgreement(got, exactResults(call));

  const held = ctx.memory.current;
  engine.release(dq);
  engine.release(engine.upload(call.q));
  expect(ctx.memory.current, 'released memory is used again').toBe(held);
  await expect(engine.download(dq)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  ctx.destroy();
});

test('an engine reports and rejects problems that it cannot run', async () => {
  const engine = webgpuEngine(await sharedContext());
  const wide = Tensor.zeros([1, 1, 4, 1000]);
  const { problem } = normalise({ q: wide, k: wide, v: wide });
  expect(engine.checkSupport(problem)).toMatchObject({
    supported: false,
    reasons: [expect.stringMatching(/head size 1000/)],
  });
  const tensor = engine.upload(wide);
  await expect(engine.sdpa(tensor, tensor, tensor)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  engine.release(tensor);
});

test('a tensor that is read back in a batch has the results of the batch, in one submission', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const engine = webgpuEngine(ctx);
  const x = engine.upload(Tensor.from([1, 2, 3], [3]));
  const double = engine.primitives.prepare({ kind: 'map', value: mul(input(0), 2) }, [x], [x]);
  engine.batch(() => double.run([x], [x]));
  await ctx.submitted();
  const submit = vi.spyOn(ctx.device.queue, 'submit');
  const reads: Promise<Tensor>[] = [];
  engine.batch(() => {
    double.run([x], [x]);
    reads.push(engine.download(x));
    double.run([x], [x]);
  });
  expect([...(await reads[0]).toFloat32()]).toEqual([8, 16, 24]);
  expect(submit).toHaveBeenCalledTimes(1);
  engine.batch(() => reads.push(engine.download(x)));
  expect(await reads[1]).toEqual(await reads[0]);
  ctx.destroy();
});

test('a batch has the results of its single calls', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const engine = webgpuEngine(ctx);
  const up = (...numbers: number[]): GpuTensor => engine.upload(Tensor.from(numbers, [1, 1, 1, 4]));
  const [x, other] = [up(1, 2, 3, 4), up(9, 9, 9, 9)];
  const [y, z] = [engine.primitives.allocate(x), engine.primitives.allocate(x)];
  const double = engine.primitives.prepare({ kind: 'map', value: mul(input(0), 2) }, [x], [x]);
  const reads: Promise<Tensor>[] = [];
  // In the second round, all kernels are compiled.
  for (let round = 0; round < 2; round++) {
    engine.batch(() => {
      const mine = up(1, 2, 3, 4);
      double.run([mine], [y]);
      engine.release(mine);
      up(7, 7, 7, 7);
      const between = engine.primitives.allocate(x);
      double.run([y], [between]);
      reads.push(engine.download(between));
      engine.release(between);
      double.run([other], [engine.primitives.allocate(x)]);
      const sum = engine.sdpa(other, other, y);
      reads.push(ctx.download(y));
      reads.push(sum.then(({ o }) => engine.download(o)));
      double.run([other], [y]);
      double.run([y], [z]);
    });
    await ctx.submitted();
  }
  const numbers = (await Promise.all(reads)).map(t => [...t.toFloat32()]);
  const [once, twice] = [
    [2, 4, 6, 8],
    [4, 8, 12, 16],
  ];
  expect(numbers).toEqual([twice, once, once, twice, once, once]);
  ctx.destroy();
});

test('a call in a batch of the context that was destroyed rejects', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const engine = webgpuEngine(ctx);
  const q = engine.upload(Tensor.zeros([1, 1, 1, 4]));
  let called: Promise<unknown> | undefined;
  engine.batch(() => {
    called = engine.sdpa(q, q, q);
    ctx.destroy();
  });
  await expect(called).rejects.toThrow('was destroyed');
});

test('an engine does not overwrite what the open batch of another engine reads', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const [engine, other] = [webgpuEngine(ctx), webgpuEngine(ctx)];
  const x = engine.upload(Tensor.from([1, 2, 3], [3]));
  const [y, z] = [engine.primitives.allocate(x), engine.primitives.allocate(x)];
  const double = engine.primitives.prepare({ kind: 'map', value: mul(input(0), 2) }, [x], [x]);
  double.run([x], [y]);
  await ctx.submitted();
  const four = Tensor.from([4, 4, 4], [3]);
  engine.batch(() => {
    double.run([x], [y]);
    expect(other.overwrite?.(x, four)).toBe(false);
    other.batch(() => expect(other.overwrite?.(x, four)).toBe(false));
    expect(other.overwrite?.(z, four)).toBe(true);
  });
  expect([...(await engine.download(y)).toFloat32()]).toEqual([2, 4, 6]);
  expect([...(await engine.download(z)).toFloat32()]).toEqual([4, 4, 4]);
  ctx.destroy();
});

test('an uploaded tensor is overwritten after the work that reads it', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const engine = webgpuEngine(ctx);
  const x = engine.upload(Tensor.from([1, 2, 3], [3]));
  const [first, second] = [engine.primitives.allocate(x), engine.primitives.allocate(x)];
  const double = engine.primitives.prepare({ kind: 'map', value: mul(input(0), 2) }, [x], [x]);
  double.run([x], [first]);
  expect(engine.overwrite?.(x, Tensor.from([7, 8, 9], [3])), 'the kernel is being compiled').toBe(false);
  await ctx.submitted();
  expect(engine.overwrite?.(x, Tensor.from([4, 5, 6], [3]))).toBe(true);
  double.run([x], [second]);
  expect([...(await engine.download(first)).toFloat32()]).toEqual([2, 4, 6]);
  expect([...(await engine.download(second)).toFloat32()]).toEqual([8, 10, 12]);

  for (const other of [Tensor.zeros([4]), Tensor.zeros([3, 1]), Tensor.zeros([3], { dtype: 'i32' })])
    expect(engine.overwrite?.(x, other)).toBe(false);
  const view = engine.primitives.view(x, { shape: [2], strides: [1], offset: 1 });
  expect(engine.overwrite?.(view, Tensor.zeros([2])), 'a view').toBe(false);
  engine.batch(() => {
    expect(engine.overwrite?.(x, Tensor.from([1, 1, 1], [3]))).toBe(true);
    double.run([x], [first]);
    expect(engine.overwrite?.(x, Tensor.from([2, 2, 2], [3])), 'recorded work reads it').toBe(false);
  });
  expect([...(await engine.download(first)).toFloat32()]).toEqual([2, 2, 2]);
  engine.release(x);
  expect(() => engine.overwrite?.(x, Tensor.zeros([3]))).toThrow('was destroyed');
  ctx.destroy();
});

test('bound work runs again and again on its tensors, in batches and in encoders', async () => {
  const ctx = await createContext({ device: await callersDevice() });
  const engine = webgpuEngine(ctx);
  const x = engine.upload(Tensor.from([1, 2, 3], [3]));
  const y = engine.primitives.allocate(x);
  const double = engine.primitives.prepare({ kind: 'map', value: mul(input(0), 2) }, [x], [x]);
  const [forth, back] = [double.bind?.([x], [y]), double.bind?.([y], [x])];
  for (let round = 0; round < 2; round++) {
    engine.batch(() => {
      forth?.run();
      back?.run();
    });
  }
  await ctx.submitted();
  const encoder = ctx.device.createCommandEncoder();
  engine.recording?.encode(encoder, () => forth?.run());
  ctx.device.queue.submit([encoder.finish()]);
  expect([...(await engine.download(x)).toFloat32()]).toEqual([16, 32, 48]);
  expect([...(await engine.download(y)).toFloat32()]).toEqual([32, 64, 96]);
  engine.release(y);
  expect(() => forth?.run()).toThrow('outputs[0] was destroyed');
  ctx.destroy();
});
