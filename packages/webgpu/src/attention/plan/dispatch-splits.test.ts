import {
  type BackwardInputs,
  type DType,
  normalise,
  normaliseBackward,
  type SdpaBackwardOptions,
  Tensor,
} from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import {
  type AttentionCall,
  exactResults,
  gpuResults,
  normal,
} from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { boundSizes, limitedContext } from '../../../testing/device/limited-context.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { checkSupport, planSdpa, planSdpaBackward } from '../../index.ts';

interface Sizes {
  readonly B: number;
  readonly Hq: number;
  readonly Hk: number;
  readonly Sq: number;
  readonly Skv: number;
  readonly D: number;
}

function callOf({ B, Hq, Hk, Sq, Skv, D }: Sizes, options: SdpaBackwardOptions<Tensor> = {}): AttentionCall {
  return {
    q: normal([B, Hq, Sq, D], 1),
    k: normal([B, Hk, Skv, D], 2),
    v: normal([B, Hk, Skv, D], 3),
    dO: normal([B, Hq, Sq, D], 4),
    options,
  };
}

describe('tensors larger than a binding give the results of small ones', () => {
  test.each<[string, number, AttentionCall]>([
    // q takes 80 KiB: 20 KiB per batch entry.
    ['by batch entries', 65536, callOf({ B: 4, Hq: 4, Hk: 2, Sq: 40, Skv: 40, D: 32 })],
    // 40 KiB per batch entry, 10 KiB per head.
    ['by heads', 24576, callOf({ B: 2, Hq: 6, Hk: 3, Sq: 40, Skv: 40, D: 32 }, { causal: true })],
    // The scores of a head use 36 KiB of the bias and 9 KiB of the mask, and its queries 12 KiB.
    [
      'by tiles',
      24576,
      callOf(
        { B: 1, Hq: 2, Hk: 1, Sq: 96, Skv: 96, D: 32 },
        {
          bias: normal([2, 96, 96], 5),
          mask: Tensor.from(
            normal([1, 1, 96, 96], 6)
              .toFloat32()
              .map(x => Number(x > -1)),
            [1, 1, 96, 96],
            { dtype: 'bool' },
          ),
          dropout: { p: 0.2, seed: 3n },
          gradients: ['dq', 'dbias'],
        },
      ),
    ],
  ])('%s', async (_, limit, call) => {
    const ctx = await limitedContext(limit);
    const exact = exactResults(call);
    const sizes = await boundSizes(ctx, async () =>
      expectAgreement(await gpuResults(ctx, call, exact), exact),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
    // Without splits, forward, row values and gradients would have one dispatch each.
    expect(sizes.length).toBeGreaterThan(40);
    ctx.destroy();
  });

  test('of few queries, whose keys are split', async () => {
    const ctx = await limitedContext(65536);
    const call = callOf(
      { B: 3, Hq: 4, Hk: 2, Sq: 2, Skv: 600, D: 16 },
      { sink: [1, 0, 2, -1], gradients: ['dq'] },
    );
    const exact = exactResults(call);
    expectAgreement(await gpuResults(ctx, call, exact), exact);
    ctx.destroy();
  });

  test('with other dtypes, lengths, tokens before heads, and results in the same layout', async () => {
    const ctx = await limitedContext(16384);
    const f16 = (t: Tensor) => t.cast('f16').permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3);
    const { q, k, v, dO } = callOf({ B: 5, Hq: 4, Hk: 4, Sq: 40, Skv: 33, D: 32 });
    const call: AttentionCall = {
      ...{ q: f16(q), k: f16(k), v: f16(v), dO: f16(dO) },
      options: { seqLensQ: [40, 7, 0, 39, 22], seqLensKv: [33, 33, 12, 0, 5], outputs: { max: true } },
    };
    const exact = exactResults(call);
    expectAgreement(await gpuResults(ctx, call, exact), exact);
    ctx.destroy();
  });
});

describe('a single workgroup may need more than a binding', () => {
  const whole = { B: 1, Hq: 2, Hk: 2, Sq: 40, Skv: 70, D: 32 };

  test.each<[string, DType, number, (t: Tensor) => Tensor]>([
    ['heads', 'f32', 6144, t => t],
    ['tokens before heads', 'f32', 8192, t => t.permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3)],
    [
      'rows that are read by the element',
      'f16',
      4096,
      t => Tensor.from(t.toFloat32(), t.shape, { dtype: 'f16', strides: [1, 70 * 34, 34, 1] }),
    ],
  ])('in %s of %s', async (_, dtype, limit, layOut) => {
    const ctx = await limitedContext(limit);
    const { q, k, v, dO } = callOf(whole);
    const [lq, lk, lv, ldO] = [q, k, v, dO].map(t => layOut(t.cast(dtype)));
    const call = { q: lq, k: lk, v: lv, dO: ldO, options: { causal: true } };
    const exact = exactResults(call);
    const sizes = await boundSizes(ctx, async () =>
      expectAgreement(await gpuResults(ctx, call, exact), exact),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
    ctx.destroy();
  });

  test('of slices that start anywhere', async () => {
    const ctx = await limitedContext(6144);
    const { device } = ctx;
    const call = callOf(whole);
    const { q, k, v } = call;
    const { problem } = normalise({ q, k, v });
    const slices = [q, k, v].map((t, n) => {
      const offset = 16 * (n + 1);
      const data = t.toFloat32();
      // There is nothing after the last element, so a segment may be empty except for the bytes before its
      // rounded start.
      const buffer = device.createBuffer({ size: data.byteLength + offset, usage: 0x80 | 0x8 | 0x4 });
      device.queue.writeBuffer(buffer, offset, data);
      return { buffer, offset };
    });
    const o = ctx.allocate([1, 2, 40, 32], 'f32');
    const lse = ctx.allocate([1, 2, 40], 'f32');
    const encoder = device.createCommandEncoder();
    planSdpa(ctx, problem).encode(encoder, { q: slices[0], k: slices[1], v: slices[2], o, lse });
    device.queue.submit([encoder.finish()]);
    expectAgreement({ o: await ctx.download(o) }, { o: exactResults(call).o });
    ctx.destroy();
    for (const { buffer } of slices) buffer.destroy();
  });
});

describe('dispatch splits', () => {
  const { q, k, v, dO } = callOf({ B: 4, Hq: 4, Hk: 2, Sq: 40, Skv: 40, D: 32 });
  const lse = Tensor.zeros([4, 4, 40]);
  const inputs: BackwardInputs<Tensor> = { q, k, v, o: q, lse, dO };
  const { problem } = normaliseBackward(inputs, {});

  test('do not change the pipelines and the tensors of a plan', async () => {
    const [small, large] = [await limitedContext(32768), await sharedContext()];
    const plans = [small, large].map(ctx => [planSdpa(ctx, problem.forward), planSdpaBackward(ctx, problem)]);
    const described = plans.map(all => all.map(({ kernels, tensors }) => ({ kernels, tensors })));
    expect(described[0]).toEqual(described[1]);
  });

  test('are too large if one workgroup needs all of a tensor, and the error says so', async () => {
    // Even four segments cannot hold the keys of a head.
    const ctx = await limitedContext(1280);
    expect(checkSupport(ctx, problem.forward)).toEqual({
      supported: false,
      reasons: [
        "a workgroup of 'attention forward' needs more of q at once than maxStorageBufferBindingSize of this device, 1280 bytes",
      ],
    });
    expect(() => planSdpa(ctx, problem.forward)).toThrow(/needs more of q at once/);
  });

  test('are used for a tensor that fits, but not with the offset of its slice', async () => {
    // Exactly the size of q.
    const ctx = await limitedContext(4 * 4 * 40 * 32 * 4);
    const { device } = ctx;
    const tensors = [q, k, v].map(t => t.toFloat32());
    const usage = 0x80 | 0x8 | 0x4;
    const buffers = tensors.map(data => {
      const buffer = device.createBuffer({ size: data.byteLength + 16, usage });
      device.queue.writeBuffer(buffer, 16, data);
      return { buffer, offset: 16 };
    });
    const o = ctx.allocate([4, 4, 40, 32], 'f32');
    const rows = ctx.allocate([4, 4, 40], 'f32');
    const plan = planSdpa(ctx, problem.forward);
    const encoder = device.createCommandEncoder();
    plan.encode(encoder, { q: buffers[0], k: buffers[1], v: buffers[2], o, lse: rows });
    device.queue.submit([encoder.finish()]);
    const exact = exactResults({ q, k, v, dO });
    expectAgreement({ o: await ctx.download(o) }, { o: exact.o });
    ctx.destroy();
    for (const { buffer } of buffers) buffer.destroy();
  });
});
