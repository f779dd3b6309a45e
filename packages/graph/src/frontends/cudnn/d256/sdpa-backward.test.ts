import { type DType, type SdpaOptions, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine, sdpa, sdpaBackward } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { sharedGpu } from '../../../../testing/compare/webgpu-engine.ts';
import { type D256Options, type D256Tensors, SdpaBackwardD256, sdpaBackwardD256 } from '../index.ts';

const [B, Hq, Hk, Sq, Sk, D] = [2, 2, 1, 3, 5, 256];

function values(shape: readonly number[], seed: number, dtype: DType = 'f16'): Tensor {
  const count = shape.reduce((n, extent) => n * extent, 1);
  return Tensor.from(
    Array.from({ length: count }, (_, n) => Math.sin(1.7 * n + seed * n * n)),
    shape,
    { dtype },
  );
}

/** A view (B, H, S, D) of a tensor (B, S, H, D), as in the document's example. */
const heads = (H: number, S: number, seed: number): Tensor => values([B, S, H, D], seed).permute(0, 2, 1, 3);

interface Call {
  readonly tensors: D256Tensors<Tensor>;
  readonly options: SdpaOptions<Tensor>;
}

/** The tensors of a forward pass and its results, for options of `sdpa`. */
function dense(options: SdpaOptions<Tensor> = {}): Call {
  const [q, k, v, dO] = [heads(Hq, Sq, 1), heads(Hk, Sk, 2), heads(Hk, Sk, 3), heads(Hq, Sq, 4)];
  const { o, lse } = sdpa(q, k, v, options);
  return { tensors: { q, k, v, o, dO, lse }, options };
}

const starts = { q: [0, 2, 5], k: [0, 4, 5] };

/** Two packed sequences; lse is (T, H). */
function packed(options: SdpaOptions<Tensor> = {}): Call {
  const [q, k, v, dO] = [
    values([5, Hq, D], 1),
    values([5, Hk, D], 2),
    values([5, Hk, D], 3),
    values([5, Hq, D], 4),
  ];
  const all = { ...options, cuSeqLensQ: starts.q, cuSeqLensKv: starts.k };
  const { o, lse } = sdpa(q, k, v, all);
  const cumulative = (list: readonly number[]) => Tensor.from(list, [list.length], { dtype: 'i32' });
  return {
    tensors: {
      ...{ q, k, v, o, dO, lse: lse.permute(1, 0).contiguous() },
      ...{ cumSeqlenQ: cumulative(starts.q), cumSeqlenK: cumulative(starts.k) },
    },
    options: all,
  };
}

function expected({ tensors, options }: Call) {
  const { q, k, v, o, dO, lse } = tensors;
  const rows = tensors.cumSeqlenQ ? lse.permute(1, 0).contiguous() : lse;
  return sdpaBackward({ q, k, v, o, dO, lse: rows }, options);
}

function expectClose(actual: Tensor, want: Tensor): void {
  expect(actual.shape).toEqual(want.shape);
  expect(actual.dtype).toBe('f16');
  const [a, e] = [actual.toFloat64(), want.toFloat64()];
  const worst = e.reduce(
    (most, x, n) => Math.max(most, Math.abs(x - a[n]) || (Number.isNaN(a[n]) ? Infinity : 0)),
    0,
  );
  expect(worst).toBeLessThan(2e-2);
}

const engine = cpuEngine();

describe('the wrapper', () => {
  test('gives dq, dk and dv by name and in order', async () => {
    const call = dense();
    const result = await sdpaBackwardD256(engine, call.tensors);
    const [dq, dk, dv] = result;
    expect([dq, dk, dv]).toEqual([result.dq, result.dk, result.dv]);
    const want = expected(call);
    expectClose(result.dq, want.dq);
    expectClose(result.dk, want.dk);
    expectClose(result.dv, want.dv);
  });

  const forms: Readonly<Record<string, readonly [Call, D256Options]>> = {
    'causal, which ends at the last key': [dense({ causal: 'bottom-right' }), { isCausal: true }],
    'causal, whatever the right bound says': [
      dense({ window: { right: 0, align: 'bottom-right' } }),
      { isCausal: true, windowSize: [-1, 1] },
    ],
    'a window, without the diagonal key': [
      dense({ window: { left: 2, right: 0, align: 'bottom-right' } }),
      { isCausal: true, windowSize: [2, -1] },
    ],
    'a window to both sides': [
      dense({ window: { left: 1, right: 1, align: 'bottom-right' } }),
      { windowSize: [1, 1] },
    ],
    'a scale': [dense({ scale: 0.02 }), { scaleSoftmax: 0.02 }],
    'a scale of 0, which is 1/√D': [dense(), { scaleSoftmax: 0 }],
    'what there is one value of': [
      dense(),
      { accDType: 'f32', mmaTilerMn: [128, 128], dkdvMmaTilerMn: [128, 64], scaleSoftmax: null },
    ],
    packed: [packed(), {}],
    'packed and causal, each sequence by itself': [packed({ causal: 'bottom-right' }), { isCausal: true }],
    'packed, with longest sequences that are given': [packed(), { maxSQ: 16, maxSK: 32 }],
  };

  test.each(Object.entries(forms))('%s', async (_, [call, options]) => {
    const result = await sdpaBackwardD256(engine, call.tensors, options);
    const want = expected(call);
    for (const name of ['dq', 'dk', 'dv'] as const) expectClose(result[name], want[name]);
  });

  test('packed tensors with a leading 1, and lse with a last 1', async () => {
    const call = packed();
    const { q, k, v, o, dO, lse, ...cumulative } = call.tensors;
    const lead = (t: Tensor): Tensor => t.reshape([1, ...t.shape]);
    const tensors = {
      q: lead(q),
      k: lead(k),
      v: lead(v),
      o: lead(o),
      dO: lead(dO),
      lse: lse.reshape([...lse.shape, 1]),
    };
    const result = await sdpaBackwardD256(engine, { ...tensors, ...cumulative });
    const want = expected(call);
    for (const name of ['dq', 'dk', 'dv'] as const) expectClose(result[name], lead(want[name]));
  });

  test('bf16', async () => {
    const cast = ({ lse, ...others }: D256Tensors<Tensor>): D256Tensors<Tensor> => ({
      ...(Object.fromEntries(
        Object.entries(others).map(([name, t]) => [name, t.cast('bf16')]),
      ) as typeof others),
      lse,
    });
    const { dq } = await sdpaBackwardD256(engine, cast(dense().tensors));
    expect(dq.dtype).toBe('bf16');
  });

  test('on WebGPU', { timeout: 60_000 }, async () => {
    const { engine: gpu } = await sharedGpu();
    const call = packed({ causal: 'bottom-right' });
    const uploaded = Object.entries(call.tensors).map(([name, t]) => [name, gpu.upload(t.contiguous())]);
    const result = await sdpaBackwardD256(gpu, Object.fromEntries(uploaded), { isCausal: true });
    const want = expected(call);
    for (const name of ['dq', 'dk', 'dv'] as const) expectClose(await gpu.download(result[name]), want[name]);
  });
});

describe('the class', () => {
  test('is checked, compiled and executed on tensors with the layouts of the samples', async () => {
    const call = dense({ causal: 'bottom-right' });
    const zeros = () => ({
      dq: Tensor.zeros([B, Sq, Hq, D], { dtype: 'f16' }).permute(0, 2, 1, 3),
      dk: Tensor.zeros([B, Sk, Hk, D], { dtype: 'f16' }).permute(0, 2, 1, 3),
      dv: Tensor.zeros([B, Sk, Hk, D], { dtype: 'f16' }).permute(0, 2, 1, 3),
    });
    const backward = new SdpaBackwardD256(engine, { ...call.tensors, ...zeros() }, { isCausal: true });
    expect(await backward.checkSupport()).toEqual({ supported: true, reasons: [] });
    await backward.compile();
    const into = zeros();
    await backward.execute({ ...call.tensors, ...into });
    const want = expected(call);
    for (const name of ['dq', 'dk', 'dv'] as const) expectClose(into[name], want[name]);

    const scaled = zeros();
    await backward.execute({ ...call.tensors, ...scaled }, { scaleSoftmax: 0.01 });
    const other = expected({ ...call, options: { ...call.options, scale: 0.01 } });
    for (const name of ['dq', 'dk', 'dv'] as const) expectClose(scaled[name], other[name]);
  });

  test.each([NaN, -Infinity, 1e39])('refuses a scale of %d, also in execute', async scaleSoftmax => {
    const { tensors } = dense();
    const samples = { ...tensors, dq: tensors.q, dk: tensors.k, dv: tensors.v };
    const refusal = expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'scaleSoftmax' });
    expect(() => new SdpaBackwardD256(engine, samples, { scaleSoftmax })).toThrow(refusal);
    const backward = new SdpaBackwardD256(engine, samples);
    await expect(backward.execute(samples, { scaleSoftmax })).rejects.toThrow(refusal);
  });

  test('finishes pending calls after its release, and then refuses to run', async () => {
    const call = dense();
    const into = {
      dq: Tensor.zeros([B, Hq, Sq, D], { dtype: 'f16' }),
      dk: heads(Hk, Sk, 2),
      dv: heads(Hk, Sk, 3),
    };
    const backward = new SdpaBackwardD256(engine, { ...call.tensors, ...into });
    const asked = backward.execute({ ...call.tensors, ...into });
    backward.release();
    await asked;
    expectClose(into.dq, expected(call).dq);
    await expect(backward.compile()).rejects.toThrow('SdpaBackwardD256 has been released');
    await expect(backward.execute({ ...call.tensors, ...into })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  test('compiles again after a failure', async () => {
    let isBusy = true;
    const busy = {
      ...engine,
      checkSupport: (problem: Parameters<typeof engine.checkSupport>[0]) =>
        isBusy ? { supported: false, reasons: ['it is busy'] } : engine.checkSupport(problem),
    };
    const { tensors } = dense();
    const backward = new SdpaBackwardD256(busy, { ...tensors, dq: tensors.q, dk: tensors.k, dv: tensors.v });
    await expect(backward.compile()).rejects.toThrow('it is busy');
    isBusy = false;
    await backward.compile();
  });

  test('says why an engine cannot run it', async () => {
    const none = {
      ...referenceEngine(),
      checkSupport: () => ({ supported: false, reasons: ['it is Sunday'] }),
    };
    const { tensors } = dense();
    const backward = new SdpaBackwardD256(none, { ...tensors, dq: tensors.q, dk: tensors.k, dv: tensors.v });
    expect(await backward.checkSupport()).toEqual({ supported: false, reasons: ['it is Sunday'] });
    await expect(backward.compile()).rejects.toThrow('it is Sunday');
  });
});

describe("calls that cuDNN's documentation forbids are refused", () => {
  const { tensors } = dense();
  const { tensors: tokens } = packed();
  const small = (t: Tensor): Tensor => t.slice(t.shape.length - 1, 0, 128);
  const refused: readonly (readonly [argument: string, tensors: object, options: object, says: RegExp])[] = [
    ['q', { q: small(tensors.q) }, {}, /head size of 256, got \[2,2,3,128\]/],
    ['v', { v: small(tensors.v) }, {}, /head size of 256/],
    ['k', { q: heads(3, Sq, 1), k: heads(2, Sk, 1), v: heads(2, Sk, 1) }, {}, /divides the 3 of q, got 2/],
    ['v', { v: heads(2, Sk, 1) }, {}, /must have the dimensions \[2,1,5,256\]/],
    ['o', { o: heads(Hq, Sk, 1) }, {}, /must have the dimensions \[2,2,3,256\]/],
    ['q', { q: tokens.q }, {}, /must be \(B, H, S, D\), got \[5,2,256\]/],
    ['cumSeqlenK', { cumSeqlenQ: tokens.cumSeqlenQ }, {}, /must be given too/],
    ['q', { ...tokens, q: tensors.q }, {}, /must be \(T, H, D\) or \(1, T, H, D\).*got \[2,2,3,256\]/],
    ['lse', { lse: tensors.lse.cast('f16') }, {}, /must be f32, got f16/],
    ['lse', { lse: tensors.lse.permute(0, 2, 1).contiguous().permute(0, 2, 1) }, {}, /must be contiguous/],
    ['k', { k: tensors.k.cast('bf16') }, {}, /must be f16, the dtype of q, got bf16/],
    ['q', { q: tensors.q.cast('f32') }, {}, /must be f16 or bf16, got f32/],
    ['cumSeqlenQ', { ...tokens, cumSeqlenQ: tokens.cumSeqlenQ?.cast('u32') }, {}, /must be i32, got u32/],
    [
      'cumSeqlenK',
      { ...tokens, cumSeqlenK: Tensor.from([0, 5], [2], { dtype: 'i32' }) },
      {},
      /dimensions \[3\], got \[2\]/,
    ],
    ['maxSQ', tokens, { maxSQ: 2 }, /at least 3, the length of the longest sequence, got 2/],
    ['maxSK', tokens, { maxSK: 3 }, /at least 4, the length of the longest sequence, got 3/],
    ['accDType', {}, { accDType: 'f16' }, /must be f32, got f16/],
    ['mmaTilerMn', {}, { mmaTilerMn: [64, 64] }, /must be \[128,128\], got \[64,64\]/],
    ['dkdvMmaTilerMn', {}, { dkdvMmaTilerMn: [128, 128] }, /must be \[128,64\]/],
    ['windowSize', {}, { windowSize: [4, -1] }, /left bound below 4/],
    ['windowSize', {}, { windowSize: [-1, 2] }, /right bound below 2/],
    ['windowSize', {}, { windowSize: [-2, 0] }, /≥ 0, or −1/],
    ['scaleSoftmax', {}, { scaleSoftmax: Infinity }, /must be finite/],
    ['scaleSoftmax', {}, { scaleSoftmax: 1e39 }, /must be finite, got 1e\+39/],
  ];

  test.each(refused)('%s: %#', async (argument, change, options, says) => {
    const call = sdpaBackwardD256(
      engine,
      { ...tensors, ...change } as typeof tensors,
      options as D256Options,
    );
    await expect(call).rejects.toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^INVALID_/), argument }),
    );
    await expect(call).rejects.toThrow(says);
  });
});
