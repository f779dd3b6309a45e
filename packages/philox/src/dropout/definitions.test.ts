import fc from 'fast-check';
import { expect, it } from 'vitest';
import { philox4x32 } from '../block/block4x32.ts';
import { uniformFromWord } from '../stream/uniform.ts';
import { createDropout } from './dropout.ts';

type Index = readonly [b: number, h: number, i: number, j: number];

/** Word `lane` of the Philox block at a 128-bit counter. */
function word(seed: bigint, counter: bigint, lane: number, rounds: number): number {
  const low = (x: bigint): number => Number(BigInt.asUintN(32, x));
  const block = philox4x32(
    [low(counter), low(counter >> 32n), low(counter >> 64n), low(counter >> 96n)],
    [low(seed), low(seed >> 32n)],
    rounds,
  );
  return block[lane] ?? 0;
}

const shape = { B: 2, H: 2 ** 29, Sq: 20, Skv: 70 };
const { H, Sq, Skv } = shape;

/** The word, or the byte, that decides on an element, from the definitions in the schemes' documentation. */
const drawn = {
  'torch-efficient': (seed: bigint, offset: bigint, [b, h, i, j]: Index): number => {
    const position = BigInt.asUintN(64, offset + BigInt(((b * H + h) * Sq + i) * Skv + j));
    return word(seed, position >> 2n, Number(position & 3n), 10);
  },
  'flash-attention-2': (seed: bigint, offset: bigint, [b, h, i, j]: Index): number => {
    const first = offset + BigInt((b * H + h) * 32 + (i % 8) * 4 + Math.floor((j % 8) / 2));
    const tile = BigInt(Math.floor(i / 16)) + (BigInt(Math.floor(j / 32)) << 32n);
    const own = word(seed, BigInt.asUintN(64, first) + (tile << 64n), Math.floor((j % 32) / 8), 7);
    return (own >>> (8 * ((Math.floor(i / 8) % 2) * 2 + (j % 2)))) & 255;
  },
  onednn: (seed: bigint, offset: bigint, [b, h, i, j]: Index): number => {
    const index = ((b * H + h) * Sq + i) * Skv + j;
    return word(seed, offset + (BigInt(index - (index % 4)) << 64n), index % 4, 10);
  },
};

/** Offsets of all sizes, and close to where a counter word carries. */
const offset = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  ...[32n, 34n, 64n].map(bits => fc.bigInt({ min: 2n ** bits - 9n, max: 2n ** bits - 1n })),
);
const element = fc.tuple(fc.nat(1), fc.nat(H - 1), fc.nat(Sq - 1), fc.nat(Skv - 1));

/** Whether a scheme keeps an element with this word or byte. */
const keeps = {
  'torch-efficient': (word: number, p: number) => uniformFromWord(word) > Math.fround(p),
  'flash-attention-2': (byte: number, p: number) => byte <= Math.floor(Math.fround(1 - Math.fround(p)) * 255),
  onednn: (word: number, p: number) => word > 4294967295 * Math.fround(p),
};

it.each(['torch-efficient', 'flash-attention-2', 'onednn'] as const)(
  'each element is decided by the word of its definition, also where counters carry (%s)',
  scheme => {
    fc.assert(
      fc.property(offset, offset, element, fc.nat(99), (seed, offset, index, percent) => {
        const p = percent / 100;
        const { keep } = createDropout({ p, seed, offset, scheme, shape });
        const places: readonly Index[] = [index, [0, 0, index[2], index[3]]];
        for (const at of places)
          expect(keep(...at), `element ${at}`).toBe(keeps[scheme](drawn[scheme](seed, offset, at), p));
      }),
    );
  },
);

it.each([
  ['torch-efficient', (word: number) => [uniformFromWord(word - 1), uniformFromWord(word)]],
  ['onednn', (word: number) => [(word - 0.5) / 4294967295, (word + 0.5) / 4294967295]],
] as const)(
  'the smallest word above p is kept, and a word that is not above p is dropped (%s)',
  (scheme, around) => {
    const length = 4096;
    const row = { B: 1, H: 1, Sq: 1, Skv: length };
    const words = Array.from({ length }, (_, j) =>
      scheme === 'onednn'
        ? word(5n, 1n + (BigInt(j - (j % 4)) << 64n), j % 4, 10)
        : word(5n, (1n + BigInt(j)) >> 2n, (1 + j) % 4, 10),
    );
    // Close to 0, each word has an f32 of its own.
    const least = Math.min(...words);
    const [below, at] = around(least);
    const decided = (p: number) => {
      const { keep, keepRow } = createDropout({ p, seed: 5, offset: 1, scheme, shape: row });
      const mask = new Uint8Array(length);
      keepRow(0, 0, 0, 0, length, mask);
      return [mask[words.indexOf(least)] === 1, keep(0, 0, 0, words.indexOf(least))];
    };
    expect(decided(below)).toEqual([true, true]);
    expect(decided(at)).toEqual([false, false]);
  },
);
