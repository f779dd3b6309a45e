import { type SdpaBackwardOptions, Tensor, TilewiseError } from '@tilewise/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exactResults, normal, type Results } from '../../../testing/attention/attention-call.ts';
import { expectAgreement, expectSameBits } from '../../../testing/attention/expect-agreement.ts';
import {
  call,
  intoEncoder,
  intoPass,
  problemsOf,
  type RecordPlan,
  read,
  shape,
  slice,
} from '../../../testing/attention/plan-calls.ts';
import { callersDevice, storageBuffer, validationError } from '../../../testing/device/device-buffers.ts';
import { type BufferSlice, createContext, type GpuContext, planSdpa, planSdpaBackward } from '../../index.ts';

let device: GPUDevice;
let ctx: GpuContext;
beforeAll(async () => {
  device = await callersDevice();
  ctx = await createContext({ device });
});
afterAll(() => {
  ctx.destroy();
  device.destroy();
});

/**
 * Runs forward and backward by plans on the caller's own buffers, in which every tensor starts at `offset`
 * bytes.
 */
async function runPlans(
  record: RecordPlan,
  {
    offset = 0,
    unaligned = [],
    inputs = call,
    options = {},
  }: {
    offset?: number;
    unaligned?: string[];
    inputs?: typeof call;
    options?: SdpaBackwardOptions<Tensor>;
  } = {},
): Promise<Results> {
  const { forward, backward } = problemsOf(options, inputs);
  const { q, k, v, dO } = inputs;
  const [B, H, S] = q.shape;
  const lse = Tensor.zeros([B, H, S]);
  const like = { o: dO, lse, dq: q, dk: k, dv: v };
  const buffers: Record<string, BufferSlice> = {};
  for (const [name, t] of Object.entries({ q, k, v, dO })) buffers[name] = slice(device, t, offset);
  for (const [name, t] of Object.entries(like))
    buffers[name] = slice(device, Tensor.zeros(t.shape, { dtype: t.dtype }), offset);

  const first = planSdpa(ctx, forward, { unaligned });
  const second = planSdpaBackward(ctx, backward, { unaligned });
  expect(first.workspaceBytes).toBe(0);
  const workspace = { buffer: storageBuffer(device, second.workspaceBytes) };
  const error = await validationError(device, () => {
    record(device, first, buffers);
    record(device, second, { ...buffers, workspace });
  });
  expect(error).toBeNull();
  const results: Record<string, Tensor> = {};
  for (const [name, t] of Object.entries(like)) results[name] = await read(device, t, buffers[name]);
  first.destroy();
  second.destroy();
  return results;
}

describe('a plan on the device and buffers of the caller', () => {
  let expected: Results;
  beforeAll(async () => {
    expected = await runPlans(intoEncoder);
  });

  test('is recorded into a command encoder', () => {
    expectAgreement(expected, exactResults(call));
  });

  test('is recorded into a compute pass', async () => {
    expectSameBits(await runPlans(intoPass), expected);
  });

  test.each([16, 256, 272])('works on tensors %i bytes into their buffers', async offset => {
    expectSameBits(await runPlans(intoPass, { offset }), expected);
  });

  test.each([4, 260])(
    'works on tensors of the option unaligned, %i bytes into their buffers',
    async offset => {
      const unaligned = ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'];
      expectAgreement(await runPlans(intoPass, { offset, unaligned }), exactResults(call));
    },
  );

  test('f16 tensors may start at any element', async () => {
    const half = [1, 2, 3, 4].map(seed => normal([1, 2, 33, 6], seed, 'f16'));
    const [q, k, v, dO] = half;
    const inputs = { q, k, v, dO };
    const { forward, backward } = problemsOf({}, inputs);
    const f16 = ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'];
    const tensors = [...planSdpa(ctx, forward).tensors, ...planSdpaBackward(ctx, backward).tensors];
    for (const { name, alignment } of tensors) if (f16.includes(name)) expect(alignment, name).toBe(2);
    const exact = exactResults(inputs);
    // The rows of lse are f32, so their slices need no other alignment.
    const at2 = (t: Tensor): BufferSlice => slice(device, t, 2);
    const o = at2(Tensor.zeros(dO.shape, { dtype: 'f16' }));
    const lse = slice(device, exact.lse);
    const plan = planSdpa(ctx, forward);
    intoEncoder(device, plan, { q: at2(q), k: at2(k), v: at2(v), o, lse });
    const back = planSdpaBackward(ctx, backward);
    const gradients = { dq: at2(q), dk: at2(k), dv: at2(v) };
    const workspace = { buffer: storageBuffer(device, back.workspaceBytes) };
    const given = { o: at2(exact.o), lse: slice(device, exact.lse), dO: at2(dO) };
    intoEncoder(device, back, { q: at2(q), k: at2(k), v: at2(v), ...given, ...gradients, workspace });
    expectAgreement(
      {
        o: await read(device, dO, o),
        lse: await read(device, exact.lse, lse),
        dq: await read(device, q, gradients.dq),
        dk: await read(device, k, gradients.dk),
        dv: await read(device, v, gradients.dv),
      },
      exact,
    );
  });

  test('lists the requirements of each tensor', () => {
    const { forward, backward } = problemsOf({ gradients: ['dk'] });
    const bytes = 4 * 2 * 2 * 40 * 8;
    expect(planSdpa(ctx, forward).tensors).toEqual([
      { name: 'q', bytes, alignment: 16, access: 'read' },
      { name: 'k', bytes, alignment: 16, access: 'read' },
      { name: 'v', bytes, alignment: 16, access: 'read' },
      { name: 'o', bytes, alignment: 16, access: 'read_write' },
      { name: 'lse', bytes: 4 * 2 * 2 * 40, alignment: 4, access: 'read_write' },
    ]);
    const names = planSdpaBackward(ctx, backward).tensors.map(({ name }) => name);
    expect(names.sort()).toEqual(['dO', 'dk', 'k', 'lse', 'o', 'q', 'v']);
    expect(planSdpa(ctx, forward, { unaligned: ['q'] }).tensors[0].alignment).toBe(4);
  });
});

describe('dropout in plans', () => {
  const dropped = (offset: bigint | number): SdpaBackwardOptions<Tensor> => ({
    dropout: { p: 0.5, seed: 3, offset },
  });

  test('each call in one submission has its own offset, as words or as integers', async () => {
    const plan = planSdpa(ctx, problemsOf(dropped(0)).forward);
    const { q, k, v } = call;
    const operands = { q: slice(device, q), k: slice(device, k), v: slice(device, v) };
    const offsets = [undefined, [64, 0], 128, 2n ** 33n + 64n] as const;
    const results = offsets.map(() => ({
      o: slice(device, Tensor.zeros(shape)),
      lse: slice(device, Tensor.zeros(shape.slice(0, 3))),
    }));
    const encoder = device.createCommandEncoder();
    for (const [n, offset] of offsets.entries()) {
      plan.encode(encoder, { ...operands, ...results[n] }, { offset });
    }
    device.queue.submit([encoder.finish()]);
    for (const [n, offset] of [0, 64, 128, 2n ** 33n + 64n].entries()) {
      const { o, lse } = exactResults({ ...call, options: dropped(offset) });
      expectAgreement(
        { o: await read(device, o, results[n].o), lse: await read(device, lse, results[n].lse) },
        { o, lse },
      );
    }
    plan.destroy();
  });
});

test('the scale is that of the problem, unless a call has its own', async () => {
  const { forward, backward } = problemsOf();
  const plans = [planSdpa(ctx, forward), planSdpaBackward(ctx, backward)];
  const exact = exactResults({ ...call, options: { scale: 0.7 } });
  const gradients = {
    dq: slice(device, Tensor.zeros(shape)),
    dk: slice(device, Tensor.zeros(shape)),
    dv: slice(device, Tensor.zeros(shape)),
  };
  const results = {
    o: slice(device, Tensor.zeros(shape)),
    lse: slice(device, Tensor.zeros(shape.slice(0, 3))),
    ...gradients,
  };
  const workspace = { buffer: storageBuffer(device, new Float32Array(plans[1].workspaceBytes / 4)) };
  const operands = Object.fromEntries(Object.entries(call).map(([name, t]) => [name, slice(device, t)]));
  const encoder = device.createCommandEncoder();
  for (const plan of plans) plan.encode(encoder, { ...operands, ...results, workspace }, { scale: 0.7 });
  // 1e39 is finite as a number, but not in f32.
  for (const scale of [Number.NaN, 1e39]) {
    expect(() => plans[0].encode(encoder, { ...operands, ...results }, { scale })).toThrow(
      `options.scale must be a finite number, got ${scale}`,
    );
  }
  device.queue.submit([encoder.finish()]);
  const got: Record<string, Tensor> = {};
  for (const [name, place] of Object.entries(results))
    got[name] = await read(device, exact[name as 'o'], place);
  expectAgreement(got, exact);
  for (const plan of plans) plan.destroy();
});

describe('compiling', () => {
  test('warmUp compiles the kernels that encode uses', async () => {
    const warm = await createContext({ device: await callersDevice() });
    const plan = planSdpa(warm, problemsOf({ causal: true }).forward);
    await plan.warmUp();
    let compiled = 0;
    const { createComputePipeline } = warm.device;
    warm.device.createComputePipeline = function (...args) {
      compiled++;
      return createComputePipeline.apply(this, args);
    };
    const made = (t: Tensor) => ({ buffer: storageBuffer(warm.device, t.data) });
    const rows = Tensor.zeros(shape.slice(0, 3));
    const encoder = warm.device.createCommandEncoder();
    plan.encode(encoder, {
      q: made(call.q),
      k: made(call.k),
      v: made(call.v),
      o: made(call.q),
      lse: made(rows),
    });
    warm.device.queue.submit([encoder.finish()]);
    expect(compiled).toBe(0);
    warm.device.destroy();
  });
});

test.each<[string, unknown]>([
  ['a number', 5],
  ['a number for dq', { dq: 5 }],
  ['no shape for dq', { dq: {} }],
  [
    'a shape of words for dk',
    { dk: { dtype: 'f32', shape: 'words', strides: [1, 1, 1, 1], starts: 'strided', page: null } },
  ],
  [
    'strides that are not numbers for dv',
    {
      dv: { dtype: 'f32', shape: [1, 1, 1, 1], strides: ['a', 1, 1, 1], starts: 'strided', page: null },
    },
  ],
])('layouts of gradients that are %s are refused', (_, layouts) => {
  const { backward } = problemsOf({}, call);
  expect(() => planSdpaBackward(ctx, backward, { layouts: layouts as never })).toThrow(TilewiseError);
});
