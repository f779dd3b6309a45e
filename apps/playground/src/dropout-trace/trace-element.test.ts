import { createDropout, type DropoutSchemeName } from '@tilewise/philox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceElement } from './trace-element.ts';

const schemes: readonly DropoutSchemeName[] = ['torch-efficient', 'flash-attention-2', 'onednn'];

describe.each(schemes)('the trace of %s', scheme => {
  it('comes to the decision that the mask has', () => {
    const seed = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const place = fc.tuple(fc.nat(1), fc.nat(2), fc.nat(39), fc.nat(69));
    fc.assert(
      fc.property(seed, fc.bigInt({ min: 1n, max: 2n ** 40n }), place, (drawn, offset, [b, h, i, j]) => {
        const shape = { B: 2, H: 3, Sq: 40, Skv: 70 };
        const mask = createDropout({ shape, p: 0.3, seed: drawn, offset, scheme });
        const trace = traceElement({ scheme, p: 0.3, seed: drawn, offset, ...shape, b, h, i, j });
        expect(trace.keep).toBe(mask.keep(b, h, i, j));
      }),
    );
  });

  it('starts from the counter and takes the convention’s rounds', () => {
    const trace = traceElement({
      scheme,
      p: 0.5,
      seed: 1,
      offset: 4,
      H: 1,
      Sq: 8,
      Skv: 8,
      b: 0,
      h: 0,
      i: 3,
      j: 5,
    });
    expect(trace.rounds[0]).toEqual([...trace.counter]);
    expect(trace.rounds).toHaveLength(scheme === 'flash-attention-2' ? 8 : 11);
  });
});
