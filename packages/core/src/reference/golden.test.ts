import {
  errorOf,
  goldenCall,
  goldenCases,
  loadGolden,
  type MakeTensor,
  referenceGate,
} from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { Tensor } from '../tensor/tensor.ts';
import { sdpaBackwardFloat64 } from './backward.ts';
import { sdpaFloat64 } from './forward.ts';

const hostTensor: MakeTensor<Tensor> = ({ data, shape }, as) =>
  Tensor.from(data, shape, { dtype: as?.dtype ?? 'f32' });

describe.each(goldenCases())('golden case %s', name => {
  const golden = loadGolden(name);
  const { q, k, v, dO, dLse, options, expected } = goldenCall(golden, hostTensor);

  test('forward and backward agree with float64 autograd', () => {
    const { o, lse } = sdpaFloat64(q, k, v, options);
    const { dCaptures, ...gradients } = sdpaBackwardFloat64({ q, k, v, o, lse, dO, dLse }, options);
    expect(dCaptures).toBeUndefined();
    const results = { o, lse, ...gradients };
    expect(Object.keys(results).sort()).toEqual(Object.keys(expected).sort());
    for (const [tensor, { data, shape }] of Object.entries(expected)) {
      const result = results[tensor as keyof typeof results];
      expect(result?.shape, tensor).toEqual(shape);
      const error = errorOf(result?.values ?? [], data);
      expect(error.max, tensor).toBeLessThanOrEqual(referenceGate(golden, tensor));
    }
  });
});
