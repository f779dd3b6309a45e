import { normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createContext,
  type GpuContext,
  type GpuTensor,
  type Plan,
  planSdpa,
  planSdpaBackward,
} from '../../index.ts';
import { planLayout } from './plan-layout.ts';

// A GpuTensor that is passed for a buffer has a shape and dtype, which must be those that the plan was made
// for.

let ctx: GpuContext;
beforeAll(async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  ctx = await createContext({ adapter });
});
afterAll(() => ctx.destroy());

const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
const upload = (t: Tensor): GpuTensor => ctx.upload(t);

const forward = {
  ...{ q: f32(2, 4, 5, 8), k: f32(2, 2, 7, 8).cast('f16'), v: f32(2, 7, 2, 6).permute(0, 2, 1, 3) },
  ...{ bias: f32(4, 1, 7), mask: Tensor.zeros([5, 7], { dtype: 'bool' }), seqLensKv: [3, 7] },
};

function encodeForward(changed: Readonly<Record<string, Tensor>>): void {
  const { q, k, v, ...options } = forward;
  const { problem } = normalise({ q, k, v }, options);
  const plan = planSdpa(ctx, problem);
  const given = {
    ...{ q, k, v, bias: options.bias, mask: options.mask },
    o: f32(2, 4, 5, 6),
    lse: f32(2, 4, 5),
  };
  const seqLensKv = Tensor.from([3, 7], [2], { dtype: 'i32' });
  const tensors = { ...given, seqLensKv, ...changed };
  const buffers = Object.fromEntries(Object.entries(tensors).map(([name, t]) => [name, upload(t)]));
  plan.encode(ctx.device.createCommandEncoder(), buffers);
}

test('the tensors of the problem are accepted, also in equivalent dtypes', () => {
  expect(() => encodeForward({})).not.toThrow();
  expect(() => encodeForward({ mask: Tensor.zeros([5, 7], { dtype: 'u8' }) })).not.toThrow();
  expect(() => encodeForward({ seqLensKv: Tensor.from([3, 7], [2], { dtype: 'u32' }) })).not.toThrow();
});

describe('others are refused, naming the buffer', () => {
  test.each<[string, Readonly<Record<string, Tensor>>, string]>([
    ['dtype', { q: f32(2, 4, 5, 8).cast('bf16') }, 'InvalidDTypeError: buffers.q must be f32, got bf16'],
    [
      'shape',
      { k: f32(2, 2, 9, 8).cast('f16') },
      'InvalidShapeError: buffers.k must have shape [2,2,7,8], got [2,2,9,8]',
    ],
    [
      'strides',
      { v: f32(2, 2, 7, 6) },
      'InvalidArgumentError: buffers.v must have strides [84,6,12,1], got [84,42,6,1]',
    ],
    [
      'rank',
      { bias: f32(1, 4, 1, 7) },
      'InvalidShapeError: buffers.bias must have shape [4,1,7], got [1,4,1,7]',
    ],
    [
      'result',
      { o: f32(2, 5, 4, 6).permute(0, 2, 1, 3) },
      'InvalidArgumentError: buffers.o must have strides [120,30,6,1], got [120,6,24,1]',
    ],
    ['rows', { lse: f32(2, 5, 4) }, 'InvalidShapeError: buffers.lse must have shape [2,4,5], got [2,5,4]'],
    ['list', { seqLensKv: f32(2) }, 'InvalidDTypeError: buffers.seqLensKv must be i32 or u32, got f32'],
    ['mask', { mask: f32(5, 7) }, 'InvalidDTypeError: buffers.mask must be bool or u8, got f32'],
  ])('another %s', (_, changed, message) => {
    expect(() => encodeForward(changed)).toThrow(
      expect.objectContaining({
        name: message.split(': ')[0],
        argument: message.split(' ')[1],
        message: message.slice(message.indexOf(' ') + 1),
      }),
    );
  });

  test('results of backward', () => {
    const { q, k, v } = forward;
    const given = { q, k, v, o: f32(2, 4, 5, 6), dO: f32(2, 4, 5, 6), lse: f32(2, 4, 5) };
    const { problem } = normaliseBackward(given, { gradients: ['dv'] });
    const plan = planSdpaBackward(ctx, problem);
    const buffers = Object.fromEntries(Object.entries(given).map(([name, t]) => [name, upload(t)]));
    const workspace = ctx.device.createBuffer({ size: plan.workspaceBytes, usage: 0x80 });
    const encode = (dv: Tensor) => () =>
      plan.encode(ctx.device.createCommandEncoder(), { ...buffers, workspace, dv: upload(dv) });
    expect(encode(v)).not.toThrow();
    expect(encode(f32(2, 2, 7, 6))).toThrow('buffers.dv must have strides [84,6,12,1], got [84,42,6,1]');
  });
});

describe('a plan reads', () => {
  const halves = (...shape: number[]): Tensor => Tensor.zeros(shape, { dtype: 'f16' });
  const tensorsRead = ({ kernels, workspaceBytes }: Plan): string[] => {
    const { read } = planLayout({ kernels, spans: { workspace: workspaceBytes } }, 256);
    return read.map(({ name }) => name).sort();
  };

  test('its inputs, but neither its results nor its workspace', () => {
    const [q, k, v, o] = [halves(2, 4, 5, 7), halves(2, 2, 7, 7), halves(2, 2, 7, 5), halves(2, 4, 5, 5)];
    const { problem } = normaliseBackward({ q, k, v, o, dO: o, lse: f32(2, 4, 5) });
    const plan = planSdpaBackward(ctx, problem);
    expect(plan.workspaceBytes).toBeGreaterThan(0);
    expect(tensorsRead(plan)).toEqual(['dO', 'k', 'lse', 'o', 'q', 'v']);
  });

  test('the list of FP8, which it also writes the largest values to', () => {
    const [q, k] = [2, 1].map(heads => Tensor.zeros([2, heads, 5, 8], { dtype: 'f8e4m3' }));
    const { problem } = normalise({ q, k, v: k }, { fp8: {}, outputs: { amaxS: true } });
    const plan = planSdpa(ctx, problem);
    expect(plan.tensors.find(({ name }) => name === 'fp8')?.access).toBe('read_write');
    expect(tensorsRead(plan)).toEqual(['fp8', 'k', 'q', 'v']);
  });
});

test('buffers that a plan has run on are checked again if they are passed in another way', () => {
  const { problem } = normalise({ q: f32(1, 1, 4, 8), k: f32(1, 1, 4, 8), v: f32(1, 1, 4, 8) });
  const plan = planSdpa(ctx, problem);
  const [q, o, lse] = [f32(1, 1, 4, 8), f32(1, 1, 4, 8), f32(1, 1, 4)].map(upload);
  const slices = Object.fromEntries(
    Object.entries({ q, k: q, v: q, o, lse }).map(([name, { buffer }]) => [name, { buffer, offset: 0 }]),
  );
  const encode = (changed: Parameters<typeof plan.encode>[1]): void =>
    plan.encode(ctx.device.createCommandEncoder(), { ...slices, ...changed });
  for (const _ of [1, 2]) expect(() => encode({})).not.toThrow();
  slices.q.offset = 16;
  expect(() => encode({})).toThrow('buffers.q needs 128 bytes from offset 16');
  const { buffer } = q;
  expect(() => encode({ q: { buffer, offset: 2 } })).toThrow('buffers.q.offset must be a multiple of');
  expect(() => encode({ q: { buffer, offset: '256' as never } })).toThrow(/multiple of 16 bytes, got "256"/);
  expect(() => encode({ q: { buffer, offset: 16 } })).toThrow('buffers.q needs 128 bytes from offset 16');
  expect(() => encode({ q: ctx.view(q, { shape: [1, 1, 8, 4] }) })).toThrow(
    'buffers.q must have shape [1,1,4,8], got [1,1,8,4]',
  );
  q.destroy();
  expect(() => encode({ q })).toThrow('buffers.q was destroyed');
});
