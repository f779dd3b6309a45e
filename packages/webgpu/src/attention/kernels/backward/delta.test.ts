import { describe, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../testing/attention/expect-agreement.ts';
import { kernelsFor } from '../../../../testing/device/as-on-a-gpu.ts';

describe.each(kernelsFor)('rows of o ∘ dO are summed by kernels %s', (_kernels, context) => {
  // On a GPU, eight lanes share a row: with 8 channels, two of the lanes have a vector; with 40 channels, two
  // lanes have two vectors.
  test.each([8, 40])(
    'for heads of %i channels, some rows beyond a workgroup, and a gradient of lse',
    async Dv => {
      const call = {
        q: normal([2, 2, 37, 8], 1),
        k: normal([2, 1, 21, 8], 2),
        v: normal([2, 1, 21, Dv], 3),
        dO: normal([2, 2, 37, Dv], 4),
        dLse: normal([2, 2, 37], 5),
        options: { causal: true },
      };
      expectAgreement(await gpuResults(await context(), call), exactResults(call));
    },
  );
});
