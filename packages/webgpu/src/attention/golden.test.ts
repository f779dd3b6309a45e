import { join } from 'node:path';
import { InvalidArgumentError, Tensor } from '@tilewise/core';
import {
  errorOf,
  fixturesDir,
  gate,
  goldenCall,
  goldenCases,
  loadGolden,
  type MakeTensor,
  type StorageDType,
} from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { sharedContext } from '../../testing/shared-context.ts';
import { type GpuTensor, sdpa, sdpaBackward } from '../index.ts';

const committed = join(fixturesDir(), 'attention');

// What happens to a score does not depend on how it is stored, so each option is met in one of the two half dtypes.
// Head size 15 goes element by element, and its rows share words; the others go in vectors.
const cases: Readonly<Record<StorageDType, readonly string[]>> = {
  f32: goldenCases(committed),
  f16: ['causal_fa_23x56_d15_br', 'dlse_causal_dead_rows_gqa', 'bias_neg_inf_entries'],
  bf16: ['causal_fa_23x56_d15_br', 'mask_dead_head', 'dropout_05_causal_gqa', 'varlen_empty_seq_br'],
};

describe.each(['f32', 'f16', 'bf16'] as const)('golden cases stored as %s', storage => {
  test.each(cases[storage])('%s', async name => {
    const ctx = await sharedContext();
    const makeTensor: MakeTensor<GpuTensor> = ({ data, shape }, as) =>
      ctx.upload(Tensor.from(data, shape, { dtype: as?.dtype ?? storage }));
    const golden = loadGolden(name, committed);
    const { q, k, v, dO, dLse, options, expected } = goldenCall(golden, makeTensor);
    const { o, lse } = sdpa(ctx, q, k, v, options);
    const gradients = sdpaBackward(ctx, { q, k, v, o, lse, dO, ...(dLse ? { dLse } : {}) }, options);
    const { dCaptures, ...plain } = gradients;
    expect(dCaptures).toBeUndefined();
    const results: Record<string, GpuTensor> = { o, lse, ...plain };
    expect(Object.keys(results).sort()).toEqual(Object.keys(expected).sort());
    for (const [tensor, result] of Object.entries(results)) {
      const want = expected[tensor];
      if (!want) throw new InvalidArgumentError(tensor, 'is not in the golden case');
      const got = await ctx.download(result);
      expect(got.shape, tensor).toEqual(want.shape);
      const error = errorOf(got.toFloat64(), want.data);
      const allowed = gate(golden, tensor, storage);
      expect(error.max, `${tensor}, largest error`).toBeLessThanOrEqual(allowed.max);
      expect(error.rms, `${tensor}, rms error`).toBeLessThanOrEqual(allowed.rms);
    }
  });
});
