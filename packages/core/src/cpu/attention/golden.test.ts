import { errorOf, gate, goldenCall, goldenCases, loadGolden, type StorageDType } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { createEngineKernels } from '../kernels/engine-kernels.ts';
import { supportedVariants } from '../kernels/host-kernels.ts';
import { backward } from './backward/backward.ts';
import { forward } from './forward/forward.ts';

const storages: readonly StorageDType[] = ['f32', 'f16', 'bf16'];

const calls = supportedVariants().flatMap(variant => storages.map(storage => ({ variant, storage })));

describe.each(calls)('golden cases stored as $storage on $variant', ({ variant, storage }) => {
  const kernels = createEngineKernels(variant);

  test.each(goldenCases())('%s', name => {
    const golden = loadGolden(name);
    const { q, k, v, dO, dLse, options, expected } = goldenCall(golden, (raw, as) =>
      Tensor.from(raw.data, raw.shape, { dtype: as?.dtype ?? storage }),
    );
    const call = normalise({ q, k, v }, options);
    const { o, lse } = forward(call.problem, call.operands, { kernels });
    const back = normaliseBackward({ q, k, v, o, lse, dO, dLse }, options);
    const { gradients, dCaptures } = backward(back.problem, back.operands, { kernels });
    expect(dCaptures).toBeNull();
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
