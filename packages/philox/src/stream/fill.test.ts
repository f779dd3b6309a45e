import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { philox4x32 } from '../block/block4x32.ts';
import { InvalidArgumentError } from '../errors.ts';
import { fillBernoulli, fillNormal, fillU32, fillUniform } from './fill.ts';
import { PhiloxStream } from './stream.ts';

/** Word `position` of a stream, from the definition. */
function word(seed: bigint, subsequence: bigint, position: bigint, rounds: number): number {
  const counter = (subsequence << 64n) + (position >> 2n);
  const [c0, c1, c2, c3] = [0n, 32n, 64n, 96n].map(shift => Number((counter >> shift) & 0xffffffffn));
  const key: [number, number] = [Number(seed & 0xffffffffn), Number(seed >> 32n)];
  const block = philox4x32([c0 ?? 0, c1 ?? 0, c2 ?? 0, c3 ?? 0], key, rounds);
  return block[Number(position & 3n)] ?? 0;
}

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** Offsets of all sizes, and close to where a counter word carries. */
const offset = fc.oneof(
  u64,
  fc.integer({ min: -30, max: 30 }).map(d => 2n ** 34n + BigInt(d)),
  fc.integer({ min: -30, max: -1 }).map(d => 2n ** 64n + BigInt(d)),
);

describe('fillU32', () => {
  it('writes the words of the stream, whatever the offset, the length and the number of rounds', () => {
    fc.assert(
      fc.property(
        u64,
        u64,
        offset,
        fc.nat({ max: 40 }),
        fc.integer({ min: 1, max: 12 }),
        (seed, subsequence, offset, length, rounds) => {
          const out = fillU32(new Uint32Array(length), { seed, subsequence, offset, rounds });
          const expected = Array.from(out, (_, i) => word(seed, subsequence, offset + BigInt(i), rounds));
          expect([...out]).toEqual(expected);
        },
      ),
    );
  });

  it('fills a part of a larger buffer and nothing else', () => {
    const all = new Uint32Array(12);
    fillU32(all.subarray(3, 9), { seed: 1 });
    expect(all.findIndex(x => x !== 0)).toBe(3);
    expect([...all.subarray(9)]).toEqual([0, 0, 0]);
  });

  it('continues where a shorter fill stopped', () => {
    const whole = fillU32(new Uint32Array(1000), { seed: 7n, offset: 5 });
    const part = fillU32(new Uint32Array(487), { seed: 7n, offset: 518 });
    expect([...part]).toEqual([...whole.subarray(513)]);
  });

  it.each([
    ['seed', { seed: -1 }],
    ['offset', { seed: 1, offset: 0.5 }],
    ['subsequence', { seed: 1, subsequence: 2n ** 64n }],
    ['rounds', { seed: 1, rounds: 0 }],
    ['rounds', { seed: 1, rounds: 2.5 }],
  ])('names a %s that is out of range', (argument, options) => {
    expect(() => fillU32(new Uint32Array(4), options)).toThrow(InvalidArgumentError);
    expect(() => fillU32(new Uint32Array(4), options)).toThrow(expect.objectContaining({ argument }));
  });

  it('rejects a destination of another type before it writes', () => {
    const floats = new Float32Array(4);
    expect(() => fillU32(floats as unknown as Uint32Array, { seed: 1 })).toThrow('out must be a Uint32Array');
    expect([...floats]).toEqual([0, 0, 0, 0]);
  });
});

describe('the other fills', () => {
  it('draw the same as a stream does one by one', () => {
    for (const length of [0, 1, 2, 3, 7, 64]) {
      const options = { seed: 99n, subsequence: 3n, offset: 2n ** 34n - 6n };
      const stream = () => new PhiloxStream(99n, options);
      const uniforms = stream();
      expect([...fillUniform(new Float32Array(length), options)]).toEqual(
        Array.from({ length }, () => uniforms.nextUniform()),
      );
      const normals = stream();
      expect([...fillNormal(new Float32Array(length), options)]).toEqual(
        Array.from({ length }, () => normals.nextNormal()),
      );
    }
    const draws = new PhiloxStream(4, { offset: 1 });
    const filled = fillBernoulli(new Uint8Array(2500), { seed: 4, offset: 1, p: 0.3 });
    expect([...filled]).toEqual(Array.from(filled, () => (draws.nextBernoulli(0.3) ? 1 : 0)));
  });

  it('reject a destination whose memory was transferred', () => {
    const floats = new Float32Array(4);
    structuredClone(floats.buffer, { transfer: [floats.buffer] });
    const rule = 'out was transferred';
    expect(() => fillUniform(floats, { seed: 1 })).toThrow(rule);
    expect(fillNormal(new Float32Array(0), { seed: 1 })).toHaveLength(0);
  });

  it('reject wrong destinations and probabilities', () => {
    expect(() => fillUniform([] as unknown as Float32Array, { seed: 1 })).toThrow(
      'out must be a Float32Array, got Array',
    );
    expect(() => fillNormal([] as unknown as Float32Array, { seed: 1 })).toThrow(
      'out must be a Float32Array, got Array',
    );
    expect(() => fillBernoulli([] as unknown as Uint8Array, { seed: 1, p: 0 })).toThrow(
      'out must be a Uint8Array, got Array',
    );
    expect(() => fillBernoulli(new Uint8Array(1), { seed: 1, p: 1.5 })).toThrow(
      'p must be a number in [0, 1], got 1.5',
    );
  });

  it('have the moments of their distributions', () => {
    const n = 200_000;
    const mean = (values: Iterable<number>, f: (x: number) => number) => {
      let sum = 0;
      for (const value of values) sum += f(value);
      return sum / n;
    };
    const normals = fillNormal(new Float32Array(n), { seed: 2024 });
    // Five standard errors of each moment: sqrt(1/n), sqrt(2/n), sqrt(96/n).
    expect(Math.abs(mean(normals, x => x))).toBeLessThan(5 * Math.sqrt(1 / n));
    expect(Math.abs(mean(normals, x => x * x) - 1)).toBeLessThan(5 * Math.sqrt(2 / n));
    expect(Math.abs(mean(normals, x => x ** 4) - 3)).toBeLessThan(5 * Math.sqrt(96 / n));
    const uniforms = fillUniform(new Float32Array(n), { seed: 2024 });
    expect(Math.abs(mean(uniforms, x => x) - 0.5)).toBeLessThan(5 * Math.sqrt(1 / 12 / n));
    const draws = fillBernoulli(new Uint8Array(n), { seed: 2024, p: 0.2 });
    expect(Math.abs(mean(draws, x => x) - 0.2)).toBeLessThan(5 * Math.sqrt(0.16 / n));
  });
});
