import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normaliseBackwardOnHost, normaliseOnHost } from '../../../attention/call/normalise-on-host.ts';
import type { SdpaOptions } from '../../../attention/options/options.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { engineKernels } from '../../kernels/engine-kernels.ts';
import { supportedVariants } from '../../kernels/host-kernels.ts';
import { backward } from '../backward/backward.ts';
import { forward } from '../forward/forward.ts';
import { hasSmallHeadGradients, smallHeadPlan } from './plan.ts';
import { createSmallHeads } from './small-heads.ts';

const wave = (shape: readonly number[], seed: number): Tensor =>
  Tensor.from(
    Array.from({ length: shape.reduce((product, extent) => product * extent, 1) }, (_, n) =>
      Math.sin(seed + 0.7 * n + 1e-3 * n * n),
    ),
    shape,
  );

/** (B, H, S, D), stored by head or by position. */
const operand = ([B, H, S, D]: readonly number[], seed: number, byPosition: boolean): Tensor =>
  byPosition ? wave([B, S, H, D], seed).permute(0, 2, 1, 3) : wave([B, H, S, D], seed);

const options: readonly SdpaOptions<Tensor>[] = [
  {},
  { causal: true },
  { causal: 'bottom-right', window: { left: 5 } },
  { scale: 1 },
];

const smallHeads = createSmallHeads(({ heads: kernels, memory }, { pass, heads, write }) => {
  const numbers = write(1, words => memory.scratch(words).at);
  kernels?.[pass](numbers, 0, 0, heads);
});

describe.each(supportedVariants())('%s', variant => {
  test('small heads have the bits of heads in tiles', () => {
    const extents = fc.tuple(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 128 }));
    const widths = fc.tuple(fc.constantFrom(8, 16), fc.constantFrom(8, 24));
    fc.assert(
      fc.property(
        ...[extents, widths, fc.boolean(), fc.constantFrom(...options), fc.boolean()],
        ([Sq, Skv], [D, Dv], byPosition, option, hasGarbage) => {
          const [B, H] = [2, 3];
          const q = operand([B, H, Sq, D], 1, byPosition);
          const k = operand([B, H, Skv, D], 2, byPosition);
          const v = operand([B, H, Skv, Dv], 3, !byPosition);
          const dO = operand([B, H, Sq, Dv], 4, false);
          // The last key, which few queries see with a causal mask.
          if (hasGarbage) v.data[v.data.length - 1] = Number.NaN;
          const { problem, operands } = normaliseOnHost({ q, k, v }, option);
          expect(smallHeadPlan(problem)).not.toBeNull();
          const [own, inTiles] = engineKernels.withKernels(variant, kernels => [
            forward(problem, operands, { kernels, smallHeads }),
            forward(problem, operands, { kernels }),
          ]);
          expect(own).toEqual(inTiles);

          const { o, lse } = own;
          const back = normaliseBackwardOnHost({ q, k, v, o, lse, dO }, option);
          expect(hasSmallHeadGradients(back.problem)).toBe(true);
          const [gradients, want] = engineKernels.withKernels(variant, kernels => [
            backward(back.problem, back.operands, { kernels, smallHeads }),
            backward(back.problem, back.operands, { kernels }),
          ]);
          expect(gradients.gradients).toEqual(want.gradients);
        },
      ),
      { numRuns: 40 },
    );
  });
});
