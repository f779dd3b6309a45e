import { elementCount, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../testing/attention-call.ts';
import { expectAgreement } from '../../testing/expect-agreement.ts';
import { sharedContext } from '../../testing/shared-context.ts';
import { callOf, factors, type MakeFloats, representatives, type Variant } from '../../testing/variants.ts';

const chosen = representatives();

test('every value of what a kernel depends on is in a variant that is run', () => {
  for (const [name, values] of Object.entries(factors)) {
    const run = new Set(chosen.map(variant => JSON.stringify(variant[name as keyof Variant])));
    expect(run.size, name).toBe(values.length);
  }
});

test.each(chosen)(
  '$dtype, $layout, D $D, $lengths, dropout $dropout, …: agrees with the reference',
  async variant => {
    let seed = 0;
    const floats: MakeFloats = (shape, dtype, strides) =>
      Tensor.from(normal([elementCount(shape)], ++seed).toFloat32(), shape, { dtype, strides });
    const call = callOf(variant, floats);
    const exact = exactResults(call);
    expectAgreement(await gpuResults(await sharedContext(), call, exact), exact, { distance: 40 });
  },
);
