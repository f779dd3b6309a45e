import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { transformerEngineDropoutMask } from './transformer-engine.ts';

const { cases } = loadPhilox<{
  cases: { numel: number; seed: string; offset: string; p: number; mask_hex: string }[];
}>('te_dropout_vectors');

describe('transformerEngineDropoutMask', () => {
  it.each(cases)('is that of seed $seed, offset $offset, p $p', ({ numel, seed, offset, p, mask_hex }) => {
    const mask = transformerEngineDropoutMask({
      numel,
      p,
      seed: BigInt(`0x${seed}`),
      offset: BigInt(`0x${offset}`),
    });
    const bytes = Buffer.from(mask_hex, 'hex');
    expect([...mask]).toEqual(Array.from(mask, (_, n) => ((bytes[n >> 3] ?? 0) >> (n & 7)) & 1));
  });

  it('takes whole chunks of 16 only', () => {
    expect(() => transformerEngineDropoutMask({ numel: 8, p: 0.5, seed: 1 })).toThrow(
      'numel must be a multiple of 16, got 8',
    );
  });
});
