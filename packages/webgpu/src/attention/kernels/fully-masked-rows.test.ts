import { type SdpaOptions, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';

const outputs = { max: true, sumExp: true };
const numbers = (t: Tensor): number[] => [...t.toFloat32()];
const zeros = (n: number): number[] => new Array(n).fill(0);
const infinities = (n: number): number[] => new Array(n).fill(-Infinity);

test.each<[string, SdpaOptions, number]>([
  ['left of a bottom-right diagonal', { causal: 'bottom-right' }, 30],
  ['that a window leaves without keys', { window: { left: 3, right: -0, align: 'top-left' } }, 0],
  ['of which no key exists', { seqLensKv: [0] }, 40],
])('queries %s give o = 0, lse = max = −∞, sumExp = 0 and no gradient', async (_, options, masked) => {
  const [q, dO] = [1, 2].map(seed => normal([1, 2, 40, 8], seed));
  const [k, v] = [3, 4].map(seed => normal([1, 2, 10, 8], seed));
  const call = { q, k, v, dO, options: { ...options, outputs } };
  const got = await gpuResults(await sharedContext(), call);
  expectAgreement(got, exactResults(call));
  const first = options.window ? 14 : 0;
  const last = options.window ? 40 : masked;
  for (const [name, expected] of Object.entries({ lse: -Infinity, max: -Infinity, sumExp: 0 })) {
    const rows = numbers(got[name].slice(2, first, last));
    expect(rows, name).toEqual(new Array(rows.length).fill(expected));
  }
  for (const name of ['o', 'dq']) {
    const rows = numbers(got[name].slice(2, first, last));
    expect(rows, name).toEqual(zeros(rows.length));
  }
});

test('no keys at all leave only fully masked rows', async () => {
  const q = normal([1, 2, 3, 8], 1);
  const none = Tensor.zeros([1, 2, 0, 8]);
  const got = await gpuResults(await sharedContext(), { q, k: none, v: none, dO: q, options: { outputs } });
  expect(numbers(got.o)).toEqual(zeros(48));
  expect(numbers(got.lse)).toEqual(infinities(6));
  expect(numbers(got.dq)).toEqual(zeros(48));
  expect(got.dk.shape).toEqual([1, 2, 0, 8]);
});

test('no queries leave the gradients of keys and values at 0', async () => {
  const none = Tensor.zeros([1, 2, 0, 8]);
  const k = normal([1, 2, 5, 8], 1);
  const got = await gpuResults(await sharedContext(), { q: none, k, v: k, dO: none });
  expect([got.o.shape, got.lse.shape, got.dq.shape]).toEqual([
    [1, 2, 0, 8],
    [1, 2, 0],
    [1, 2, 0, 8],
  ]);
  expect(numbers(got.dk)).toEqual(zeros(80));
  expect(numbers(got.dv)).toEqual(zeros(80));
});

test('an empty batch gives empty results', async () => {
  const none = Tensor.zeros([0, 2, 4, 8]);
  const got = await gpuResults(await sharedContext(), { q: none, k: none, v: none, dO: none });
  for (const name of ['o', 'dq', 'dk', 'dv']) expect(got[name].shape, name).toEqual([0, 2, 4, 8]);
});

test('packed tokens that belong to no sequence are fully masked', async () => {
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([12, 2, 8], seed));
  const options = { cuSeqLensQ: [0, 3, 9], cuSeqLensKv: [0, 6, 10], outputs };
  const call = { q, k, v, dO, options };
  const got = await gpuResults(await sharedContext(), call);
  expectAgreement(got, exactResults(call));
  expect(numbers(got.lse.slice(1, 9, 12))).toEqual(infinities(6));
  expect(numbers(got.dk.slice(0, 10, 12))).toEqual(zeros(32));
});

test('tokens beyond the used length of a packed sequence are fully masked', async () => {
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([12, 2, 8], seed));
  const cuSeqLens = [0, 5, 12];
  const options = {
    cuSeqLensQ: cuSeqLens,
    cuSeqLensKv: cuSeqLens,
    seqLensQ: [2, 7],
    seqLensKv: [5, 3],
    outputs,
  };
  const call = { q, k, v, dO, options };
  const got = await gpuResults(await sharedContext(), call);
  expectAgreement(got, exactResults(call));
  expect(numbers(got.lse.slice(1, 2, 5))).toEqual(infinities(6));
});
