import { dropoutMask } from '@tilewise/philox';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalise } from '../../../../attention/call/normalise.ts';
import { Tensor } from '../../../../tensor/tensor.ts';
import { createKernels, supportedVariants } from '../../../kernels/host-kernels.ts';
import { createDropoutTile } from './dropout.ts';

const all = supportedVariants().map(createKernels);
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

test('every scheme draws the masks of @tilewise/philox, whatever the tile', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('torch-efficient' as const, 'flash-attention-2' as const, 'onednn' as const),
      fc.oneof(u64, fc.constantFrom(2n ** 64n - 5n, 2n ** 34n - 3n)),
      u64,
      fc.double({ min: 0, max: 0.99, noNaN: true }),
      fc.tuple(fc.nat(40), fc.nat(60), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 40 })),
      (scheme, offset, seed, p, [i0, j0, rows, columns]) => {
        const [B, H, Sq, Skv] = [2, 3, i0 + rows, j0 + columns];
        const x = Tensor.zeros([B, H, Sq, 1]);
        const keys = Tensor.zeros([B, H, Skv, 1]);
        const dropout = { p, seed, offset, scheme };
        const { problem, operands } = normalise({ q: x, k: keys, v: keys }, { dropout });
        const mask = dropoutMask({ ...dropout, shape: [B, H, Sq, Skv] });
        const want = Array.from(
          { length: rows * columns },
          (_, n) => mask[((B * H - 1) * Sq + i0 + Math.floor(n / columns)) * Skv + j0 + (n % columns)],
        );
        for (const kernels of all) {
          const { memory } = kernels;
          memory.reset();
          const keep = createDropoutTile(problem, operands, kernels, { rows: 20, columns: 40 });
          const weights = memory.floats(20 * 40);
          weights.values.fill(1);
          keep?.load({ b: B - 1, h: H - 1, i0, rows, index: 0, j0, columns });
          keep?.drop(weights.at, weights.at, 4 * 40, rows, columns);
          const got = want.map((_, n) =>
            Number(weights.values[Math.floor(n / columns) * 40 + (n % columns)] !== 0),
          );
          expect(got, kernels.variant).toEqual(want);
        }
      },
    ),
    { numRuns: 200 },
  );
});
