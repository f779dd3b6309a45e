import { describe, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../../testing/attention/attention-call.ts';
import { expectAgreement, expectSameBits } from '../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';

// Two sequences of four heads and three tiles of queries, all of which contribute to each sum.
const [B, H, S, D] = [2, 4, 70, 8];
const tensors = {
  q: normal([B, H, S, D], 1),
  k: normal([B, 2, S, D], 2),
  v: normal([B, 2, S, D], 3),
  dO: normal([B, H, S, D], 4),
};

describe('sums over many scores', () => {
  test.each([
    { shape: [1] },
    { shape: [S] },
    { shape: [H, 1, 1] },
    { shape: [B, 1, 1, S] },
    { shape: [S, 1] },
    { shape: [S, S] },
  ])('dbias of shape $shape', async ({ shape }) => {
    const options = { bias: normal(shape, 5), causal: true, gradients: ['dbias'] } as const;
    const call = { ...tensors, options };
    const exact = exactResults(call);
    expectAgreement(await gpuResults(await sharedContext(), call, exact), exact);
  });

  test('dAlibi, of sequences of several lengths', async () => {
    const options = {
      alibi: [0.1, 0.2, 0.3, 0],
      seqLensQ: [S, 40],
      seqLensKv: [33, S],
      gradients: ['dAlibi'],
    } as const;
    const call = { ...tensors, options };
    const exact = exactResults(call);
    expectAgreement(await gpuResults(await sharedContext(), call, exact), exact, { distance: S });
  });

  test('are the same bits in every run', async () => {
    const ctx = await sharedContext();
    const options = {
      bias: normal([S], 5),
      alibi: [0.1, 0.2, 0.3, 0],
      gradients: ['dbias', 'dAlibi'],
    } as const;
    const call = { ...tensors, options };
    expectSameBits(await gpuResults(ctx, call), await gpuResults(ctx, call));
  });
});
