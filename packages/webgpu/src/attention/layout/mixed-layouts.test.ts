import {
  type DType,
  describeTokens,
  dtypeInfo,
  normalise,
  normaliseBackward,
  type SdpaBackwardOptions,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { readBuffer, storageBuffer } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { type BufferSlice, planSdpa, planSdpaBackward, sdpa } from '../../index.ts';

const [B, Hq, Hk] = [3, 4, 2];
const lengthsQ = [37, 0, 9];
const lengthsKv = [20, 33, 40];
const [Sq, Skv] = [40, 40];

const dense = (H: number, S: number, D: number, seed: number, dtype: DType = 'f32'): Tensor =>
  normal([B, H, S, D], seed, dtype);

/**
 * The sequences of a dense tensor as tokens of `step` elements; sequence b starts at element offsets[b], and
 * all other elements are NaN.
 */
function tokens(
  t: Tensor,
  lengths: readonly number[],
  offsets: readonly number[],
  T: number,
  step: number,
): Tensor {
  const [, H = 0, , D = 0] = t.shape;
  const { dtype } = t;
  const storage = Tensor.from(new Float32Array((T - 1) * step + H * D).fill(NaN), [(T - 1) * step + H * D], {
    dtype,
  });
  lengths.forEach((length, b) => {
    for (let n = 0; n < H * length * D; n++) {
      const [h, s, d] = [Math.floor(n / (length * D)), Math.floor(n / D) % length, n % D];
      storage.set(t.get(b, h, s, d), (offsets[b] ?? 0) + s * step + h * D + d);
    }
  });
  return Tensor.wrap(storage.data, { dtype, shape: [T, H, D], strides: [step, D, 1] });
}

test('ragged q, packed k and dense v give the results of the reference, each gradient in its own layout', async () => {
  const D = 8;
  const offsetsQ = [3, 1500, 1600, 2000];
  const offsetsO = [0, 1184, 1200, 1600];
  const options: SdpaBackwardOptions<Tensor> = {
    ...{ cuSeqLensQ: [0, 37, 37, 46], cuSeqLensKv: [0, 20, 53, 93], causal: 'bottom-right' },
    ...{ sink: [0, 1, -1, 0.5], raggedOffsets: { q: offsetsQ, o: offsetsO, dk: [0, 330, 900, 1600] } },
  };
  const call = {
    q: tokens(dense(Hq, Sq, D, 1), lengthsQ, offsetsQ, 60, 36),
    k: tokens(dense(Hk, Skv, D, 2), lengthsKv, [0, 320, 848], 100, 16),
    ...{ v: dense(Hk, Skv, D, 3), dO: dense(Hq, 37, D, 4), dLse: normal([B, Hq, 37], 5), options },
  };
  const exact = exactResults(call);
  expect(exact.o.shape).toEqual([60, Hq, D]);
  expect([exact.dq, exact.dk, exact.dv].map(({ shape }) => shape)).toEqual([
    [60, Hq, D],
    [100, Hk, D],
    [B, Hk, Skv, D],
  ]);
  expectAgreement(await gpuResults(await sharedContext(), call, exact), exact);
});

test('packed q, ragged k and v in bf16, some of whose rows share words, give the results of the reference', async () => {
  const D = 8;
  const offsetsK = [1, 350, 930, 2000];
  const offsetsV = [1, 328, 900, 1600];
  const options: SdpaBackwardOptions<Tensor> = {
    ...{ cuSeqLensQ: [0, 37, 37, 46], seqLensKv: lengthsKv, alibi: true, window: { left: 9 } },
    raggedOffsets: { k: offsetsK, v: offsetsV, dO: [5, 1226, 1226, 1600], dv: [0, 321, 900, 1600] },
  };
  const call = {
    q: tokens(dense(Hq, Sq, D, 1, 'bf16'), lengthsQ, [0, 1184, 1184], 50, 32),
    k: tokens(dense(Hk, Skv, D, 2, 'bf16'), lengthsKv, offsetsK, 120, 17),
    v: tokens(dense(Hk, Skv, D, 3, 'bf16'), lengthsKv, offsetsV, 110, 16),
    dO: tokens(dense(Hq, Sq, D, 4, 'bf16'), lengthsQ, [5, 1226, 1226], 50, 33),
    options,
  };
  const exact = exactResults(call);
  expectAgreement(await gpuResults(await sharedContext(), call, exact), exact);
});

/**
 * A buffer filled with a byte pattern, in which tensors are interleaved: token t of part n starts at element
 * (3t + n)·H·D.
 */
function interleavedBuffer(device: GPUDevice, dtype: DType, T: number, H: number, D: number) {
  const { bytes } = dtypeInfo[dtype];
  const count = 3 * T * H * D + 8;
  const buffer = storageBuffer(device, new Uint8Array(Math.ceil((count * bytes) / 4) * 4).fill(0xa5));
  const part = (n: number) => ({ shape: [T, H, D], strides: [3 * H * D, D, 1], offset: n * H * D });
  return {
    slice: (n: number): BufferSlice => ({ buffer, offset: part(n).offset * bytes }),
    desc: { dtype, ...part(0) } as TensorDesc,
    read: async () => {
      const content = await readBuffer(device, buffer);
      const data = bytes === 2 ? new Uint16Array(content.buffer) : new Float32Array(content.buffer);
      return { data, view: (n: number) => Tensor.wrap(data, { dtype, ...part(n) }) };
    },
  };
}

test.each<[DType, number]>([
  ['f32', 8],
  ['f16', 7],
])(
  'gradients of interleaved %s tensors are interleaved, and gaps between the sequences are not written',
  async (dtype, D) => {
    const ctx = await sharedContext();
    const { device } = ctx;
    const [T, H] = [70, 2];
    const lengths = [19, 0, 34];
    const first = [2, 22, 30];
    const step = 3 * H * D;
    const offsets = [...first, T].map(token => token * step);
    const whole = normal([T, 3, H, D], 1, dtype);
    const part = (n: number): Tensor =>
      Tensor.wrap(whole.data, { dtype, shape: [T, H, D], strides: [step, D, 1], offset: n * H * D });
    const plain = first.map(token => token * H * D).concat(T * H * D);
    const given = { q: part(0), k: part(1), v: part(2), dO: normal([T, H, D], 2, dtype) };
    const options = {
      ...{ seqLensQ: lengths, seqLensKv: lengths, causal: true },
      raggedOffsets: {
        q: offsets,
        k: offsets,
        v: offsets,
        o: plain,
        dO: plain,
        dq: plain,
        dk: plain,
        dv: plain,
      },
    };
    const exact = exactResults({ ...given, options });

    const upload = (data: ArrayBufferView): BufferSlice => ({ buffer: storageBuffer(device, data) });
    const { problem } = normaliseBackward({ ...given, o: exact.o, lse: exact.lse }, options);
    const gradients = interleavedBuffer(device, dtype, T, H, D);
    const layout = describeTokens('gradients', gradients.desc, 'ragged');
    const plan = planSdpaBackward(ctx, problem, { layouts: { dq: layout, dk: layout, dv: layout } });
    const bytes = dtypeInfo[dtype].bytes;
    const inputs = upload(whole.data);
    const interleavedOffsets = upload(Int32Array.from(offsets));
    const plainOffsets = upload(Int32Array.from(plain));
    const encoder = device.createCommandEncoder();
    plan.encode(encoder, {
      ...{ q: inputs, k: { ...inputs, offset: H * D * bytes }, v: { ...inputs, offset: 2 * H * D * bytes } },
      ...{ o: upload(exact.o.data), dO: upload(given.dO.data), lse: upload(exact.lse.data) },
      ...{ dq: gradients.slice(0), dk: gradients.slice(1), dv: gradients.slice(2) },
      ...{ seqLensQ: upload(Int32Array.from(lengths)), seqLensKv: upload(Int32Array.from(lengths)) },
      ...Object.fromEntries(
        ['q', 'k', 'v', 'dq', 'dk', 'dv'].map(name => [`raggedOffsets.${name}`, interleavedOffsets]),
      ),
      ...{ 'raggedOffsets.o': plainOffsets, 'raggedOffsets.dO': plainOffsets },
      workspace: { buffer: storageBuffer(device, plan.workspaceBytes) },
    });
    device.queue.submit([encoder.finish()]);

    const { data, view } = await gradients.read();
    const owned = new Uint8Array(data.length);
    const compared: [number, 'dq' | 'dk' | 'dv'][] = [
      [0, 'dq'],
      [1, 'dk'],
      [2, 'dv'],
    ];
    for (const [n, name] of compared) {
      lengths.forEach((length, b) => {
        const [from, to] = [first[b] ?? 0, (first[b] ?? 0) + length];
        const got = view(n).slice(0, from, to);
        for (const at of got.offsets()) owned[at] = 1;
        expectAgreement(
          { [name]: got.contiguous() },
          { [name]: exact[name].slice(0, from, to).contiguous() },
        );
      });
    }
    const pattern = new Uint8Array(data.buffer);
    const strays = pattern.filter((byte, n) => !owned[Math.floor(n / bytes)] && byte !== 0xa5);
    expect(strays).toHaveLength(0);
  },
);

test('gradients of k and v may follow each other in one buffer, wherever they start', async () => {
  const ctx = await sharedContext();
  const { device } = ctx;
  const [S, D] = [5, 8];
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, S, D], seed)) as [
    Tensor,
    Tensor,
    Tensor,
    Tensor,
  ];
  const exact = exactResults({ q, k, v, dO });
  const { problem } = normaliseBackward(
    { q, k, v, dO, o: exact.o, lse: exact.lse },
    { gradients: ['dk', 'dv'] },
  );
  const plan = planSdpaBackward(ctx, problem);
  const upload = (t: Tensor): BufferSlice => ({ buffer: storageBuffer(device, t.data) });
  const bytes = 4 * 2 * S * D;
  const both = storageBuffer(device, 2 * bytes);
  const inputs = {
    ...{
      q: upload(q),
      k: upload(k),
      v: upload(v),
      o: upload(exact.o),
      lse: upload(exact.lse),
      dO: upload(dO),
    },
    workspace: { buffer: storageBuffer(device, plan.workspaceBytes) },
  };
  const encode = (offset: number): GPUCommandEncoder => {
    const encoder = device.createCommandEncoder();
    plan.encode(encoder, { ...inputs, dk: both, dv: { buffer: both, offset } });
    return encoder;
  };
  expect(() => encode(bytes - 16)).toThrow('buffers.dk must not share bytes with buffers.dv');
  device.queue.submit([encode(bytes).finish()]);
  const data = new Float32Array((await readBuffer(device, both)).buffer);
  const gradient = (offset: number): Tensor => Tensor.wrap(data, { dtype: 'f32', shape: k.shape, offset });
  const got = { dk: gradient(0).contiguous(), dv: gradient(bytes / 4).contiguous() };
  expectAgreement(got, { dk: exact.dk, dv: exact.dv });
});

test('invalid ragged offsets and lengths on the GPU write nothing outside the tensor', async () => {
  const ctx = await sharedContext();
  const { device } = ctx;
  const [T, H, D] = [12, 2, 4];
  const onDevice = (...values: number[]) =>
    ctx.upload(Tensor.from(values, [values.length], { dtype: 'i32' }));
  const t = ctx.upload(normal([T, H, D], 1));
  const raggedOffsets = onDevice(-7, 2 ** 31 - 1, 41);
  const lengths = onDevice(-1, 2 ** 30);
  const { problem } = normalise(
    { q: t, k: t, v: t },
    {
      raggedOffsets: { q: raggedOffsets, k: raggedOffsets, v: raggedOffsets, o: raggedOffsets },
      ...{ seqLensQ: lengths, seqLensKv: lengths, maxSeqLenQ: 40, maxSeqLenKv: 40 },
    },
  );
  const o = storageBuffer(device, new Float32Array(3 * T * H * D).fill(7));
  const buffer = (elements: number) => storageBuffer(device, 4 * elements);
  const plan = planSdpa(ctx, problem);
  const encoder = device.createCommandEncoder();
  const lists = ['q', 'k', 'v', 'o'].map(name => [`raggedOffsets.${name}`, raggedOffsets]);
  plan.encode(encoder, {
    ...{ q: t, k: t, v: t, o: { buffer: o, offset: 4 * T * H * D }, lse: buffer(2 * H * 40) },
    ...{ seqLensQ: lengths, seqLensKv: lengths, ...Object.fromEntries(lists) },
    workspace: buffer(plan.workspaceBytes + 4),
  });
  device.queue.submit([encoder.finish()]);
  const content = new Float32Array((await readBuffer(device, o)).buffer);
  const around = [...content.slice(0, T * H * D), ...content.slice(2 * T * H * D)];
  expect(around.every(x => x === 7)).toBe(true);
  expect(content.slice(T * H * D, 2 * T * H * D).some(x => x !== 7)).toBe(true);
});

test('the lengths of lists on the GPU take a stated maximum', async () => {
  const ctx = await sharedContext();
  const [T, H, D] = [20, 2, 4];
  const t = normal([T, H, D], 1);
  const list = (...values: number[]) => Tensor.from(values, [values.length], { dtype: 'i32' });
  const hostLists = [list(8, 80, 160), list(7, 3)] as const;
  const [x, offsets, lengths] = [t, ...hostLists].map(host => ctx.upload(host));
  const optionsOf = <L>(ragged: L, lens: L) => ({
    raggedOffsets: { q: ragged, k: ragged, v: ragged, o: ragged },
    ...{ seqLensQ: lens, seqLensKv: lens, maxSeqLenQ: 9, maxSeqLenKv: 9 },
  });
  const { o, lse } = sdpa(ctx, x, x, x, optionsOf(offsets, lengths));
  const exact = exactSdpa(t, t, t, optionsOf(...hostLists));
  expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { ...exact });
});
