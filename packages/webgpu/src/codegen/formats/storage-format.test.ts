import { type DType, dtypeInfo, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { validationError } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { DevicePlan } from '../../runtime/plan/device-plan.ts';
import { kernelSpec } from '../kernel-spec.ts';
import type { ShaderPart } from '../shader-part.ts';
import { elementStore } from './element-store.ts';
import { arrayElement, storageFormat } from './storage-format.ts';

const lanes = 64;

function reading(dtype: DType): ShaderPart {
  const { scalarElement, bytes, requires, load } = storageFormat(dtype);
  return {
    bindings: [
      { name: 'given', element: scalarElement, access: 'read', elementBytes: bytes, alignment: bytes },
    ],
    uniforms: [{ name: 'given_base', type: 'u32', value: { offsetOf: 'given' } }],
    requires,
    code: `fn given_value(at: u32) -> f32 {
  return ${load(arrayElement('given'), '(P.given_base + at)')};
}`,
  };
}

/** Converts the elements to another dtype on the GPU, one invocation per element. */
async function castOnGpu(t: Tensor, dtype: DType): Promise<Tensor> {
  const ctx = await sharedContext();
  const kernel = kernelSpec({
    name: 'cast',
    groups: Math.ceil(t.size / lanes),
    workgroupSize: lanes,
    parts: [
      { uniforms: [{ name: 'count', type: 'u32', value: t.size }] },
      reading(t.dtype),
      elementStore('stored', dtype),
    ],
    body: `let at = group * ${lanes}u + lane;
  if (at < P.count) {
    stored_store(at, given_value(at));
  }`,
  });
  const plan = new DevicePlan(ctx, { kernels: [kernel], spans: { given: t.size, stored: t.size } });
  const [given, stored] = [ctx.upload(t), ctx.upload(Tensor.zeros(t.shape, { dtype }))];
  const invalid = await validationError(ctx.device, () => {
    const encoder = ctx.device.createCommandEncoder();
    plan.encode(encoder, { given, stored });
    ctx.device.queue.submit([encoder.finish()]);
  });
  expect(invalid).toBeNull();
  const result = await ctx.download(stored);
  plan.destroy();
  given.destroy();
  stored.destroy();
  return result;
}

const eightBit = ['f8e4m3', 'f8e5m2'] as const;

test.each(eightBit)('all 256 codes of %s decode to their values', async dtype => {
  const codes = Tensor.wrap(
    Uint8Array.from({ length: 256 }, (_, n) => n),
    { dtype, shape: [256] },
  );
  expect((await castOnGpu(codes, 'f32')).toFloat64()).toEqual(codes.toFloat64());
});

/**
 * Every value of a format, the midpoints between adjacent values, and the f32 neighbours of these midpoints,
 * also beyond the largest value.
 */
function nearRounding(dtype: DType): Float32Array {
  const { decode, bytes } = dtypeInfo[dtype];
  const values = Array.from({ length: 2 ** (8 * bytes) }, (_, code) => decode(code)).filter(
    x => Number.isFinite(x) && x >= 0,
  );
  values.sort((a, b) => a - b);
  const last = values[values.length - 1];
  const middles = values.slice(1).map((x, n) => (x + values[n]) / 2);
  const near = [...values, ...middles, last * 1.01, last * 1.1, last * 4, 3e38, 1e-30, 1e-6];
  const all = near.flatMap(x => [x, x * (1 + 2 ** -22), x * (1 - 2 ** -22)]);
  return Float32Array.from([...all, ...all.map(x => -x)]);
}

test.each([...eightBit, 'f16', 'bf16'] as const)('values are rounded to %s as in core', async dtype => {
  const values = nearRounding(dtype === 'f16' || dtype === 'bf16' ? 'f8e4m3' : dtype);
  const t = Tensor.from(values, [values.length]);
  expect((await castOnGpu(t, dtype)).data).toEqual(t.cast(dtype).data);
});

test('NaN and infinities become NaN and the largest value in 8 bits', async () => {
  const t = Tensor.from([NaN, Infinity, -Infinity], [3]);
  for (const dtype of eightBit) {
    const { data } = await castOnGpu(t, dtype);
    expect(data).toEqual(t.cast(dtype).data);
  }
});

test('four f16 are the same as vec4<f16> and as vec4f', async () => {
  const ctx = await sharedContext();
  if (!ctx.capabilities.features.includes('shader-f16')) return;
  const { load4, loadHalf4, requires } = storageFormat('f16');
  const codes = Tensor.wrap(
    Uint16Array.from({ length: 65536 }, (_, n) => n),
    { dtype: 'f16', shape: [65536] },
  );
  const kernel = kernelSpec({
    name: 'halves',
    groups: 65536 / 4 / lanes,
    workgroupSize: lanes,
    parts: [
      {
        directives: ['enable f16;'],
        bindings: [{ name: 'given', element: 'vec2u', access: 'read', elementBytes: 2, alignment: 8 }],
        requires,
      },
      elementStore('stored', 'f32'),
    ],
    body: `let at = group * ${lanes}u + lane;
  let half = bitcast<vec4u>(vec4f(${loadHalf4?.('given', 'at')}));
  let full = bitcast<vec4u>(${load4('given', 'at')});
  for (var n = 0u; n < 4u; n++) {
    let is_nan = (full[n] & 0x7fffffffu) > 0x7f800000u;
    stored_store(4u * at + n, f32(is_nan || half[n] == full[n]));
  }`,
  });
  const plan = new DevicePlan(ctx, { kernels: [kernel], spans: { given: 65536, stored: 65536 } });
  const [given, stored] = [ctx.upload(codes), ctx.upload(Tensor.zeros([65536]))];
  const encoder = ctx.device.createCommandEncoder();
  plan.encode(encoder, { given, stored });
  ctx.device.queue.submit([encoder.finish()]);
  const same = await ctx.download(stored);
  expect(same.toFloat32().filter(x => x !== 1)).toEqual(new Float32Array());
  plan.destroy();
  given.destroy();
  stored.destroy();
});
