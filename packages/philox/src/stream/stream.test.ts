import { loadPhilox } from '@tilewise/test-data';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import { fillU32 } from './fill.ts';
import { PhiloxStream } from './stream.ts';

const take = (stream: PhiloxStream, count: number) => Array.from({ length: count }, () => stream.nextU32());
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe('PhiloxStream', () => {
  it("starts with PyTorch's and cuRAND's words for seed 42", () => {
    expect(take(new PhiloxStream(42), 5).map(x => x.toString(16))).toEqual([
      '9ceaf053',
      '77f5493b',
      '12bf50ad',
      '5742b3d7',
      'fcdb2127',
    ]);
  });

  it('reaches every position by offset, by seek, by skip and by reading', () => {
    fc.assert(
      fc.property(
        u64,
        u64,
        u64,
        fc.nat({ max: 20 }),
        fc.nat({ max: 50 }),
        (seed, subsequence, offset, read, skip) => {
          const expected = fillU32(new Uint32Array(6), {
            seed,
            subsequence,
            offset: BigInt.asUintN(62, offset) + BigInt(read + skip),
          });
          const start = BigInt.asUintN(62, offset);
          const stream = new PhiloxStream(seed, { subsequence, offset: start });
          take(stream, read);
          stream.skip(skip);
          expect(stream.position).toBe(start + BigInt(read + skip));
          expect(take(stream, 6)).toEqual([...expected]);
          stream.seek(start + BigInt(read + skip));
          expect(take(stream, 6)).toEqual([...expected]);
        },
      ),
    );
  });

  it.each([
    ['32', 2n ** 34n],
    ['64', 2n ** 66n],
    ['96', 2n ** 98n],
  ])('carries across %s bits of the counter', (_, boundary) => {
    const stream = new PhiloxStream(5n, { subsequence: 0n });
    stream.seek(boundary - 3n);
    const words = take(stream, 6);
    expect(stream.position).toBe(boundary + 3n);
    stream.seek(boundary);
    expect(words.slice(3)).toEqual(take(stream, 3));
    // The block after the carry is the first block of another place in the counter space, not of position 0.
    expect(words.slice(3)).not.toEqual(take(new PhiloxStream(5n), 3));
  });

  it('runs from one subsequence into the next after 2^66 words', () => {
    const stream = new PhiloxStream(5n, { subsequence: 8n });
    stream.seek(2n ** 66n);
    expect(take(stream, 9)).toEqual(take(new PhiloxStream(5n, { subsequence: 9n }), 9));
  });

  it('wraps at the end of the counter', () => {
    const stream = new PhiloxStream(5n);
    stream.seek(2n ** 130n - 2n);
    stream.skip(2);
    expect(stream.position).toBe(0n);
    expect(stream.nextU32()).toBe(new PhiloxStream(5n).nextU32());
  });

  it('agrees with at::philox_engine, whose offsets count blocks, for every number of rounds', () => {
    interface EngineVector {
      readonly seed: string | number;
      readonly subsequence: string | number;
      readonly offset: string | number;
      readonly n_rounds?: number;
      readonly out: string[];
    }
    const file = loadPhilox<{ vectors: EngineVector[]; rounds7: EngineVector[] }>('pytorch_philox_vectors');
    const integer = (value: string | number) =>
      typeof value === 'number' ? BigInt(value) : BigInt(`0x${value}`);
    expect(file.vectors.length + file.rounds7.length).toBe(31);
    for (const { seed, subsequence, offset, n_rounds: rounds = 10, out } of [
      ...file.vectors,
      ...file.rounds7,
    ]) {
      const stream = new PhiloxStream(integer(seed), { subsequence: integer(subsequence), rounds });
      stream.seek(4n * integer(offset));
      expect(take(stream, 8).map(word => word.toString(16).padStart(8, '0'))).toEqual(out);
    }
  });

  it('makes two normals from two words, and forgets the second one on a seek', () => {
    const stream = new PhiloxStream(1);
    const [first, second, third] = [stream.nextNormal(), stream.nextNormal(), stream.nextNormal()];
    expect(stream.position).toBe(4n);
    expect(new Set([first, second, third]).size).toBe(3);
    stream.seek(0);
    expect(stream.nextNormal()).toBe(first);
    stream.seek(0);
    expect(stream.nextNormal()).toBe(first);
  });

  it('draws Bernoulli values that are certain at 0 and 1', () => {
    const stream = new PhiloxStream(3);
    const draws = Array.from({ length: 200 }, () => [stream.nextBernoulli(0), stream.nextBernoulli(1)]);
    expect(draws.every(([never, always]) => !never && always)).toBe(true);
  });

  it('rejects values that are not options', () => {
    expect(() => new PhiloxStream(1, null as never)).toThrow('options must be an object, got null');
    expect(() => fillU32(new Uint32Array(1), undefined as never)).toThrow(
      'options must be an object, got undefined',
    );
  });

  it('rejects invalid positions, steps and probabilities', () => {
    const stream = new PhiloxStream(1n);
    expect(() => new PhiloxStream(-1n)).toThrow(InvalidArgumentError);
    expect(() => new PhiloxStream(1, { offset: -4 })).toThrow('offset must be');
    expect(() => stream.seek(2n ** 130n)).toThrow('position must be');
    expect(() => stream.skip(-1)).toThrow('words must be');
    expect(() => stream.nextBernoulli(Number.NaN)).toThrow('p must be a number in [0, 1], got NaN');
    expect(stream.position).toBe(0n);
  });
});
