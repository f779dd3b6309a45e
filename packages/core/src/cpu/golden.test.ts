import { errorOf, gate, goldenCall, goldenCases, loadGolden, type StorageDType } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { Tensor } from '../tensor/tensor.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

const storages: readonly StorageDType[] = ['f32', 'f16', 'bf16'];

describe.each(storages)('golden cases stored as %s', storage => {
  test.each(goldenCases())('%s', name => {
    const golden = loadGolden(name);
    const { q, k, v, dO, dLse, options, expected } = goldenCall(golden, (raw, as) =>
      Tensor.from(raw.data, raw.shape, { dtype: as?.dtype ?? storage }),
    );
    const { o, lse } = sdpa(q, k, v, options);
    const { dCaptures, ...gradients } = sdpaBackward({ q, k, v, o, lse, dO, dLse }, options);
    expect(dCaptures).toBeUndefined();
    const results: Readonly<Record<string, Tensor>> = { o, lse, ...gradients };
    expect(Object.keys(results).sort()).toEqual(Object.keys(expected).sort());
    for (const [tensor, { shape, data }] of Object.entries(expected)) {
      const got = results[tensor];
      expect(got.shape, tensor).toEqual(shape);
      const error = errorOf(got.toFloat32(), data);
      const allowed = gate(golden, tensor, storage);
      expect(error.max, `${tensor}: largest error`).toBeLessThanOrEqual(allowed.max);
      expect(error.rms, `${tensor}: RMS error`).toBeLessThanOrEqual(allowed.rms);
    }
  });
});
