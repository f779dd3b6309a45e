import { normalise, type SdpaOptions, Tensor } from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { type DropoutSchemeName, dropoutMask } from '@tilewise/philox';
import { describe, expect, test } from 'vitest';
import { exactResults, gpuForward, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { readBuffer, storageBuffer } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { planSdpa, sdpa } from '../../index.ts';

const schemes: readonly DropoutSchemeName[] = ['torch-efficient', 'flash-attention-2', 'onednn'];

// Two tiles in each direction.
const S = 64;
const [B, H] = [2, 2];

/** The identity matrix in every head. */
const unit = Tensor.from(
  Array.from({ length: B * H * S * S }, (_, n) => Number(Math.floor(n / S) % S === n % S)),
  [B, H, S, S],
);

describe.each(schemes)('%s', scheme => {
  test.each([
    { p: 0.1, seed: 0n, offset: 0n },
    { p: 0.5, seed: 2n ** 64n - 1n, offset: 7n },
    // The counters of later rows carry into the upper word.
    { p: 0.3, seed: 123n << 32n, offset: 2n ** 32n - 3n },
    { p: 0.3, seed: 5n, offset: 2n ** 34n - 4n },
    { p: 0.3, seed: 5n, offset: 2n ** 50n + 1n },
  ])('forward and backward use the mask of dropoutMask, for %o', async source => {
    // With q = 0 every probability is 1/S; identity matrices as v and dO isolate each probability.
    const q = Tensor.zeros([B, H, S, S]);
    const dropout = { ...source, scheme };
    const { o, dv } = await gpuResults(await sharedContext(), {
      q,
      k: q,
      v: unit,
      dO: unit,
      options: { dropout, gradients: ['dv'] },
    });
    const expected = dropoutMask({ shape: [B, H, S, S], ...dropout });
    expect(kept(o)).toEqual(expected);
    expect(kept(dv.permute(0, 1, 3, 2))).toEqual(expected);
    const [factor] = o.toFloat32().filter(x => x !== 0);
    expect(factor).toBeCloseTo(1 / (1 - source.p) / S, 6);
  });
});

test('packed sequences draw with the row strides of their lengths, forward and backward', async () => {
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([100, 2, 8], seed));
  const call = {
    q,
    k,
    v,
    dO,
    options: {
      cuSeqLensQ: [0, 41, 41, 100],
      cuSeqLensKv: [0, 50, 60, 100],
      dropout: { p: 0.4, seed: 99n, offset: 2n ** 32n - 1000n },
    },
  };
  expectAgreement(await gpuResults(await sharedContext(), call), exactResults(call));
});

test('a mask given by the caller may be broadcast, and has its own scale', async () => {
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([2, 2, 40, 8], seed));
  const mask = Tensor.from(
    normal([2, 1, 1, 40], 5)
      .toFloat32()
      .map(x => Number(x > 0)),
    [2, 1, 1, 40],
    { dtype: 'bool' },
  );
  const call = { q, k, v, dO, options: { dropout: { mask, scale: 3 } } };
  expectAgreement(await gpuResults(await sharedContext(), call), exactResults(call));
});

test('calls that differ only in the seed differ only in the mask', async () => {
  const ctx = await sharedContext();
  const [q, k, v] = [1, 2, 3].map(seed => normal([1, 2, 40, 8], seed));
  const at = async (seed: number) =>
    (await gpuForward(ctx, { q, k, v, options: { dropout: { p: 0.5, seed } } })).o.toFloat32();
  const [first, other, again] = [await at(1), await at(2), await at(1)];
  expect(other).not.toEqual(first);
  expect(again).toEqual(first);
});

function kept(t: Tensor): Uint8Array {
  return Uint8Array.from(t.toFloat32(), x => Number(x !== 0));
}

describe('the mask as a result', () => {
  const shape = [2, 2, 9, 7];
  const call = { q: normal([2, 2, 9, 8], 1), k: normal([2, 1, 7, 8], 2), v: normal([2, 1, 7, 8], 3) };
  const outputs = { dropoutMask: true };
  const given = Tensor.from(
    Array.from({ length: 2 * 9 * 7 }, (_, n) => Number(n % 3 !== 1)),
    [2, 1, 9, 7],
    { dtype: 'bool' },
  );
  const packed = { cuSeqLensQ: [0, 4, 18], cuSeqLensKv: [0, 7, 14], maxSeqLenQ: 16, maxSeqLenKv: 8 };

  test.each<[string, SdpaOptions]>([
    ...schemes.map((scheme): [string, SdpaOptions] => [
      scheme,
      { dropout: { p: 0.4, seed: 5n, offset: 2n ** 32n - 50n, scheme } },
    ]),
    ['a given mask, whatever its scale', { dropout: { mask: given, scale: 0 } }],
    ['no dropout, where all is kept, hidden or not', { causal: true }],
    ['lengths', { seqLensQ: [3, 9], seqLensKv: [7, 2], dropout: { p: 0.4, seed: 5n } }],
  ])('%s', async (_, options) => {
    await expectMask(call, { ...options, outputs }, shape);
  });

  test.each(['torch-efficient', 'onednn'] as const)('packed sequences, %s: 0 beyond them', async scheme => {
    const tokens = {
      q: normal([18, 2, 8], 1),
      k: normal([14, 1, 8], 2),
      v: normal([14, 1, 8], 3),
    };
    const options = { ...packed, dropout: { p: 0.4, seed: 5n, scheme }, outputs };
    await expectMask(tokens, options, [2, 2, 16, 8]);
  });

  async function expectMask(
    { q, k, v }: { q: Tensor; k: Tensor; v: Tensor },
    options: SdpaOptions,
    wanted: readonly number[],
  ): Promise<void> {
    const ctx = await sharedContext();
    const { dropoutMask, o } = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
    const exact = exactSdpa(q, k, v, options);
    if (!dropoutMask || !exact.dropoutMask) expect.fail('there is no mask');
    expect([dropoutMask.dtype, dropoutMask.shape]).toEqual(['u8', wanted]);
    expect((await ctx.download(dropoutMask)).data).toEqual(exact.dropoutMask.data);
    expect(o.shape).toEqual(exact.o.shape);
  }

  test('bytes after its last one are not written', async () => {
    const ctx = await sharedContext();
    const { device } = ctx;
    const [q, k] = [Tensor.zeros([1, 1, 3, 8]), Tensor.zeros([1, 1, 5, 8])];
    const plan = planSdpa(ctx, normalise({ q, k, v: k }, { outputs }).problem);
    const buffers = Object.fromEntries(
      plan.tensors.map(({ name, bytes }) => [name, storageBuffer(device, bytes)]),
    );
    buffers['outputs.dropoutMask'] = storageBuffer(device, new Uint8Array(20).fill(0xaa));
    const encoder = device.createCommandEncoder();
    plan.encode(encoder, buffers);
    device.queue.submit([encoder.finish()]);
    const written = await readBuffer(device, buffers['outputs.dropoutMask']);
    expect([...written]).toEqual([...new Array(15).fill(1), ...new Array(5).fill(0xaa)]);
    plan.destroy();
    for (const buffer of Object.values(buffers)) buffer.destroy();
  });
});
