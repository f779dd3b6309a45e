import { createDropout, type DropoutSchemeName } from '@tilewise/philox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharesBlock, traceElement } from './trace-element.ts';

const schemes: readonly DropoutSchemeName[] = ['torch-efficient', 'flash-attention-2', 'onednn'];

describe.each(schemes)('the trace of %s', scheme => {
  it('ends with the decision of the mask', () => {
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

describe('elements that share a Philox block', () => {
  const at = (scheme: DropoutSchemeName, i: number, j: number) =>
    ({ scheme, p: 0.5, seed: 1, offset: 4, H: 1, Sq: 64, Skv: 64, b: 0, h: 0, i, j }) as const;
  const mates = (scheme: DropoutSchemeName): number => {
    let count = 0;
    for (let i = 0; i < 64; i++)
      for (let j = 0; j < 64; j++) count += Number(sharesBlock(at(scheme, 3, 7), at(scheme, i, j)));
    return count;
  };

  it('are four where a word decides, and sixteen where a byte does', () => {
    expect(mates('torch-efficient')).toBe(4);
    expect(mates('onednn')).toBe(4);
    expect(mates('flash-attention-2')).toBe(16);
  });
});

it('shows that a flipped bit of the counter has changed half of the block in the end', () => {
  const { avalanche } = traceElement({
    scheme: 'torch-efficient',
    ...{ p: 0.5, seed: 42, offset: 1, H: 1, Sq: 64, Skv: 64, b: 0, h: 0, i: 3, j: 7 },
  });
  expect(avalanche[0]).toBe(1);
  expect(avalanche.at(-1)).toBeGreaterThan(45);
  expect(avalanche.at(-1)).toBeLessThan(83);
});
