import { normalise, normaliseBackward, type SdpaOptions, Tensor, UnsupportedError } from '@tilewise/core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dO, type GoodCall, goodCall, k, lse, q, v } from '../../../testing/attention/good-call.ts';
import { callersDevice } from '../../../testing/device/device-buffers.ts';
import { caught } from '../../../testing/expect-error.ts';
import { checkSupport, createContext, type GpuContext, planSdpa, sdpa } from '../../index.ts';

let ctx: GpuContext;
let expectIntact: GoodCall['expectIntact'];
beforeAll(async () => {
  ({ ctx, expectIntact } = await goodCall());
});
afterEach(() => expectIntact());

describe('checkSupport and the calls give the reasons why a problem is not supported', () => {
  const wide = Tensor.zeros([1, 2, 4, 513]);

  test.each<[string, { q: Tensor; k: Tensor; v: Tensor }, SdpaOptions, RegExp]>([
    ['head sizes above 512', { q: wide, k: wide, v: wide }, {}, /head size 513 is above 512/],
    ['wide values', { q: wide.slice(3, 0, 8), k: wide.slice(3, 0, 8), v: wide }, {}, /head size 513/],
  ])('%s', (_, inputs, options, reason) => {
    const { problem } = normalise(inputs, options);
    const { supported, reasons } = checkSupport(ctx, problem);
    expect(supported).toBe(false);
    expect(reasons.join()).toMatch(reason);
    const tensors = [inputs.q, inputs.k, inputs.v].map(t => ctx.upload(t));
    for (const run of [
      () => planSdpa(ctx, problem),
      () => sdpa(ctx, tensors[0], tensors[1], tensors[2], options),
    ]) {
      const error = caught(run);
      expect(error).toBeInstanceOf(UnsupportedError);
      expect(error).toMatchObject({ code: 'UNSUPPORTED', reasons });
    }
    for (const tensor of tensors) tensor.destroy();
  });

  test('a problem that breaks a rule gets no answer but the error of a call', () => {
    const { problem } = normalise({ q, k, v });
    const wrong = { ...problem, k: { ...problem.k, dtype: 'i32' } } as const;
    for (const run of [() => checkSupport(ctx, wrong), () => planSdpa(ctx, wrong)])
      expect(run).toThrow('k must be f32, f16, bf16, f8e4m3 or f8e5m2, got i32');
  });

  test('more storage buffers than the device has', async () => {
    const device = await callersDevice();
    const small = await createContext({ device });
    // Eight buffers, which WebGPU guarantees, are always enough.
    Object.assign(small, { capabilities: { ...small.capabilities, maxStorageBuffersPerShaderStage: 5 } });
    const options = {
      mask: Tensor.zeros([40, 40], { dtype: 'bool' }),
      bias: Tensor.zeros([40, 40]),
      seqLensKv: [1],
      seqLensQ: [1],
    };
    const { problem } = normalise({ q, k, v }, options);
    expect(checkSupport(small, problem).reasons).toEqual([
      "the kernel 'attention forward' needs 6 storage buffers, and this device allows 5",
    ]);
    expect(caught(() => planSdpa(small, problem))).toBeInstanceOf(UnsupportedError);
    device.destroy();
  });

  test('a problem that is supported has no reasons', () => {
    expect(checkSupport(ctx, normalise({ q, k, v }).problem)).toEqual({ supported: true, reasons: [] });
    const { problem } = normaliseBackward({ q, k, v, o: dO, lse, dO });
    expect(checkSupport(ctx, problem)).toEqual({ supported: true, reasons: [] });
  });
});
