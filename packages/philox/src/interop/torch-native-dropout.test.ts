import { loadPhilox } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import { PhiloxStream } from '../stream/stream.ts';
import { nativeDropoutIncrement, nativeDropoutMask, nativeDropoutScale } from './torch-native-dropout.ts';

interface Case {
  readonly numel: number;
  readonly vec: 1 | 2 | 4 | 8 | 16;
  readonly grid: number;
  readonly p: number;
  readonly seed: string;
  readonly offset: string;
  readonly generator_offset_increment: number;
  readonly mask_hex: string;
}
const { cases } = loadPhilox<{ cases: Case[] }>('native_dropout_vectors');
const options = ({ numel, vec, grid, p, seed, offset }: Case) => ({
  numel,
  vec,
  grid,
  p,
  seed: BigInt(`0x${seed}`),
  offset: BigInt(`0x${offset}`),
});

describe('nativeDropoutMask', () => {
  it.each(cases)('is that of $numel elements, vec $vec, grid $grid, p $p', vector => {
    const mask = nativeDropoutMask(options(vector));
    const bytes = Buffer.from(vector.mask_hex, 'hex');
    const expected = Array.from(mask, (_, n) => ((bytes[n >> 3] ?? 0) >> (n & 7)) & 1);
    expect([...mask]).toEqual(expected);
    expect(nativeDropoutIncrement(options(vector))).toBe(vector.generator_offset_increment);
  });

  it('continues when a counter carries beyond 32 bits', () => {
    const [threads, vec, seed, offset] = [256, 4, 7, 2 ** 34 - 4] as const;
    const mask = nativeDropoutMask({ numel: 2 * threads * vec, vec, grid: 1, p: 0.5, seed, offset });
    for (const thread of [0, 100]) {
      const stream = new PhiloxStream(seed, { subsequence: thread, offset });
      for (const at of [thread * vec, (threads + thread) * vec])
        for (let n = 0; n < vec; n++) expect(mask[at + n]).toBe(stream.nextUniform() < 0.5 ? 1 : 0);
    }
  });

  it.each([
    ['numel', { numel: -1 }],
    ['grid', { grid: 0 }],
    ['vec', { vec: 3 as 4 }],
    ['p', { p: 2 }],
    ['seed', { seed: -1 }],
    ['offset', { offset: 6 }],
  ])('names a %s that is out of range', (argument, change) => {
    const valid = { numel: 8, vec: 4 as const, grid: 1, p: 0.5, seed: 1, offset: 0 };
    const call = () => nativeDropoutMask({ ...valid, ...change });
    expect(call).toThrow(InvalidArgumentError);
    expect(call).toThrow(expect.objectContaining({ argument }));
  });
});

describe('nativeDropoutScale', () => {
  it('is the f32 inverse of the f32 keep probability', () => {
    expect(nativeDropoutScale(0)).toBe(1);
    expect(nativeDropoutScale(0.1)).toBe(Math.fround(1 / Math.fround(0.9)));
  });
});
