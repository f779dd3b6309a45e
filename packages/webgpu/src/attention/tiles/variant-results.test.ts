import { elementCount, Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { tilesOfMatrices, tilesOfSubgroups } from '../../../testing/attention/tile-kinds.ts';
import {
  callOf,
  factors,
  type MakeFloats,
  representatives,
  type Variant,
} from '../../../testing/attention/variants.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { createContext } from '../../index.ts';

const chosen = representatives();

function drawn(): MakeFloats {
  let seed = 0;
  return (shape, dtype, strides) =>
    Tensor.from(normal([elementCount(shape)], ++seed).toFloat32(), shape, { dtype, strides });
}

test('every value of each property of a kernel is in a variant that runs', () => {
  for (const [name, values] of Object.entries(factors)) {
    const run = new Set(chosen.map(variant => JSON.stringify(variant[name as keyof Variant])));
    expect(run.size, name).toBe(values.length);
  }
});

test.each(chosen)(
  '$dtype, $layout, D $D, $lengths, dropout $dropout, …: agrees with the reference',
  async variant => {
    const call = callOf(variant, drawn());
    const exact = exactResults(call);
    expectAgreement(await gpuResults(await sharedContext(), call, exact), exact, { distance: 40 });
  },
);

/**
 * For tiles that are not this adapter's own, only those whose kernels compile within seconds: matrix
 * operations written out are long texts.
 */
const narrow = (channels: number): Variant[] =>
  chosen.filter(({ dtype, D }) => !dtype.startsWith('f8') && Math.max(...D) <= channels);

/** Only tiles whose queries stay can hold 32 of them: dk and dv come from the kernels of other tiles. */
const withQueries = (variants: readonly Variant[]): Variant[] =>
  variants.map(variant => ({ ...variant, gradients: 'dq' }));

const matrix = { M: 16, N: 16, K: 16, component: 'f32' } as const;

describe.each([
  ['subgroups', tilesOfSubgroups(4, 16), narrow(64)],
  ['matrices', tilesOfMatrices(matrix, 2, { plain: true }), narrow(16)],
  [
    'matrices of 32 queries',
    tilesOfMatrices(matrix, 2, { plain: true, heldRows: 32 }),
    withQueries(narrow(16)),
  ],
])('on tiles of %s', (_, tiles, few) => {
  test.each(few)(
    '$dtype, $layout, D $D, $lengths, dropout $dropout, …: agrees with the reference',
    async variant => {
      const { device, capabilities } = await sharedContext();
      if (capabilities.subgroupMinSize === 0) return;
      const call = callOf(variant, drawn());
      const exact = exactResults(call);
      const ctx = await createContext({ device, tiles });
      expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 40 });
      ctx.destroy();
    },
  );
});
