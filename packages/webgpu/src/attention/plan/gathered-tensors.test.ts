import { normalise, type SdpaBackwardOptions, Tensor } from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { callersDevice, readBuffer, storageBuffer } from '../../../testing/device/device-buffers.ts';
import { createContext, type GpuContext, guaranteedCapabilities, planSdpa, sdpa } from '../../index.ts';

// On a device that binds only eight buffers, kernels with more tensors read the small ones from the
// workspace.

let ctx: GpuContext;
beforeAll(async () => {
  ctx = await createContext({ device: await callersDevice() });
});
afterAll(() => ctx.destroy());

const [B, Hq, Hk, D] = [2, 4, 2, 8];
const bools = (shape: readonly number[], seed: number): Tensor =>
  Tensor.from(
    normal(shape, seed)
      .toFloat32()
      .map(x => (x > -0.5 ? 1 : 0)),
    shape,
    { dtype: 'bool' },
  );

test('the device has only the guaranteed limits', () => {
  expect(ctx.capabilities.maxStorageBuffersPerShaderStage).toBe(
    guaranteedCapabilities.maxStorageBuffersPerShaderStage,
  );
});

test('lists of lengths, slopes and sinks beside every output and gradient', async () => {
  const [Tq, Tkv] = [44, 40];
  const options: SdpaBackwardOptions<Tensor> = {
    ...{ cuSeqLensQ: [0, 20, 42], seqLensQ: [17, 22], cuSeqLensKv: [0, 12, 38], seqLensKv: [12, 21] },
    ...{ alibi: [0.5, 0.25, 0.1, 1], sink: [0, 0.5, -1, 2], causal: 'bottom-right' },
    outputs: { max: true, sumExp: true },
  };
  const call = {
    ...{ q: normal([Tq, Hq, D], 1), k: normal([Tkv, Hk, D], 2), v: normal([Tkv, Hk, D], 3) },
    ...{ dO: normal([Tq, Hq, D], 4), dLse: normal([Hq, Tq], 5), options },
  };
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 40 });
});

test('masks of every kind, in bytes and halves', async () => {
  const S = 36;
  const options: SdpaBackwardOptions<Tensor> = {
    ...{ seqLensQ: [S, 30], seqLensKv: [29, S], alibi: true, sink: [0, 0.5, -1, 2] },
    bias: normal([Hq, S, S], 6, 'f16'),
    mask: bools([B, 1, S, S], 7),
    blockMask: Tensor.from([1, 1, 0, 1], [1, Hq, 1, 1], { dtype: 'u8' }),
    dropout: { mask: bools([B, Hq, S, S], 8), p: 0.3 },
    outputs: { max: true, sumExp: true },
  };
  const tensor = (H: number, seed: number): Tensor => normal([B, H, S, D], seed);
  const call = {
    ...{ q: tensor(Hq, 1), k: tensor(Hk, 2), v: tensor(Hk, 3), dO: tensor(Hq, 4) },
    ...{ dLse: normal([B, Hq, S], 5), options },
  };
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: S });
});

test('tensors and workspace may start anywhere in their buffers', async () => {
  const S = 12;
  const options = {
    ...{ seqLensQ: [S, 7], seqLensKv: [9, S], sink: [0, 0.5, -1, 2] },
    mask: bools([B, 1, S, S], 7),
    outputs: { max: true, sumExp: true },
  };
  const [q, k, v] = [normal([B, Hq, S, D], 1), normal([B, Hk, S, D], 2), normal([B, Hk, S, D], 3)];
  const { problem, operands } = normalise({ q, k, v }, options);
  const plan = planSdpa(ctx, problem);
  expect(plan.kernels.map(({ name }) => name)).toEqual([
    'gather',
    'gather',
    'gather',
    'gather',
    'attention forward',
  ]);

  const placed = (t: Tensor, offset: number) => {
    const bytes = new Uint8Array(Math.ceil((offset + t.data.byteLength) / 4) * 4);
    bytes.set(new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength), offset);
    return { buffer: storageBuffer(ctx.device, bytes), offset };
  };
  const result = (count: number) => ({ buffer: storageBuffer(ctx.device, 4 * count + 256), offset: 16 });
  const results = {
    ...{ o: result(B * Hq * S * D), lse: result(B * Hq * S), max: result(B * Hq * S) },
    sumExp: result(B * Hq * S),
  };
  const buffers = {
    ...{ q: placed(q, 16), k: placed(k, 272), v: placed(v, 0), ...results },
    ...{ mask: placed(options.mask, 3), seqLensQ: placed(operands.seqLensQ as Tensor, 4) },
    ...{ seqLensKv: placed(operands.seqLensKv as Tensor, 260), sink: placed(operands.sink as Tensor, 12) },
    workspace: { buffer: storageBuffer(ctx.device, plan.workspaceBytes + 40), offset: 40 },
  };
  const encoder = ctx.device.createCommandEncoder();
  plan.encode(encoder, buffers);
  ctx.device.queue.submit([encoder.finish()]);
  const exact = exactSdpa(q, k, v, options);
  for (const [name, { buffer, offset }] of Object.entries(results)) {
    const values = new Float32Array((await readBuffer(ctx.device, buffer)).buffer, offset);
    const wanted = exact[name as 'o' | 'lse' | 'max' | 'sumExp'] as Tensor;
    wanted.toFloat32().forEach((x, n) => {
      if (Number.isFinite(x)) expect(values[n], name).toBeCloseTo(x, 5);
      else expect(values[n], name).toBe(x);
    });
  }
});

test('without queries, nothing is gathered or computed', async () => {
  const S = 20;
  const options: SdpaBackwardOptions<Tensor> = {
    ...{ seqLensQ: [0, 0], seqLensKv: [9, S], alibi: [0.5, 0.25, 0.1, 1], sink: [0, 0.5, -1, 2] },
    bias: normal([Hq, 1, S], 6, 'f16'),
    mask: bools([B, 1, 1, S], 7),
    outputs: { max: true, sumExp: true },
  };
  const none = normal([B, Hq, 0, D], 1);
  const call = {
    ...{ q: none, k: normal([B, Hk, S, D], 2), v: normal([B, Hk, S, D], 3), dO: none },
    ...{ dLse: normal([B, Hq, 0], 5), options },
  };
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact);
});

test('kernels that leave parts of split keys in the workspace read their lists and masks there', async () => {
  const [q, k, v] = [normal([1, Hq, 2, D], 1), normal([1, Hk, 600, D], 2), normal([1, Hk, 600, D], 3)];
  const options: SdpaBackwardOptions<Tensor> = {
    ...{ seqLensQ: [2], seqLensKv: [577], alibi: [0.5, 0.25, 0.1, 1], sink: [0, 0.5, -1, 2] },
    bias: normal([Hq, 1, 600], 6, 'f16'),
    mask: bools([1, 1, 2, 600], 7),
    blockMask: Tensor.from([0b10101], [1, 1, 1, 1], { dtype: 'u8' }),
    outputs: { max: true, sumExp: true },
  };
  const forward = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
  const exact = exactSdpa(q, k, v, options);
  for (const name of ['o', 'lse', 'max', 'sumExp'] as const) {
    const [got, want] = [forward[name], exact[name]];
    if (!got || !want) expect.fail(`${name} is missing`);
    expectAgreement({ [name]: await ctx.download(got) }, { [name]: want });
  }
});
