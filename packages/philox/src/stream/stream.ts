import { philox4x32Into } from '../block/block4x32.ts';
import { checkObject, checkProbability } from '../errors.ts';
import { lowWords, toUint, type Uint } from '../u64.ts';
import { normalPairFromWords } from './normal.ts';
import { joinCounter, type StreamOptions, streamAddress } from './stream-address.ts';
import { firstWordAbove, uniformFromWord } from './uniform.ts';

/** The bits of a position: a stream of 2^128 blocks has 2^130 words. */
const POSITION_BITS = 130;

/**
 * A sequential reader of one Philox4x32 stream, with the layout of cuRAND's `curandStatePhilox4_32_10_t`.
 *
 * The word at position Q of (seed, subsequence) is word Q mod 4 of the block at counter subsequence·2^64 +
 * ⌊Q/4⌋, so any position can be reached at once. Positions and offsets count **32-bit words**. The 128-bit
 * counter carries from word to word and wraps at its end.
 */
export class PhiloxStream {
  readonly #k0: number;
  readonly #k1: number;
  readonly #rounds: number;
  /** The counter of position 0. */
  readonly #origin: bigint;
  /** The current block, and the index of its next word; 4 if the block is used up. */
  readonly #block: Uint32Array = new Uint32Array(4);
  #lane = 4;
  /** The counter of the next block. */
  readonly #next: Uint32Array = new Uint32Array(4);
  #spareNormal: number | undefined;
  #bernoulliP = 0;
  #bernoulliEnd = 0;

  /**
   * A stream at position `offset` of `subsequence` of `seed`; all three are unsigned 64-bit.
   *
   * @throws InvalidArgumentError if an argument is out of range.
   */
  constructor(seed: Uint, options: Omit<StreamOptions, 'seed'> = {}) {
    checkObject('options', options);
    const { key, counter, rounds } = streamAddress({ ...options, seed });
    this.#k0 = key[0];
    this.#k1 = key[1];
    this.#rounds = rounds;
    this.#origin = joinCounter([0, 0, counter[2], counter[3]]);
    this.seek(options.offset ?? 0);
  }

  /** The position of the next word, counted from the start of the subsequence. */
  get position(): bigint {
    const blocks = joinCounter(this.#next) - this.#origin;
    return BigInt.asUintN(POSITION_BITS, blocks * 4n - BigInt(4 - this.#lane));
  }

  /**
   * Moves to a position, in words from the start of the subsequence. If the second normal of a pair has not
   * been returned yet, it is discarded.
   *
   * @throws InvalidArgumentError if `position` is not an integer in [0, 2^130).
   */
  seek(position: Uint): void {
    const target = toUint(position, 'position', POSITION_BITS);
    const counter = this.#origin + (target >> 2n);
    this.#next.set([...lowWords(counter), ...lowWords(counter >> 64n)]);
    this.#spareNormal = undefined;
    this.#lane = 4;
    const lane = Number(target & 3n);
    if (lane > 0) {
      this.#drawBlock();
      this.#lane = lane;
    }
  }

  /**
   * Moves forward by `words` 32-bit words, as if `nextU32` had been called that many times.
   *
   * @throws InvalidArgumentError if `words` is not an integer in [0, 2^64).
   */
  skip(words: Uint): void {
    this.seek(BigInt.asUintN(POSITION_BITS, this.position + toUint(words, 'words', 64)));
  }

  /** The next word, an unsigned 32-bit integer. */
  nextU32(): number {
    if (this.#lane === 4) this.#drawBlock();
    return this.#block[this.#lane++] ?? 0;
  }

  /** The next word as an f32 uniform in [2^-33, 1], bit-equal to `curand_uniform`; takes one word. */
  nextUniform(): number {
    return uniformFromWord(this.nextU32());
  }

  /**
   * A standard normal in f32, by Box–Muller in the order of `curand_normal4`: two words make two normals,
   * which successive calls return. Not bit-portable: see `normalPairFromWords`.
   */
  nextNormal(): number {
    const spare = this.#spareNormal;
    if (spare !== undefined) {
      this.#spareNormal = undefined;
      return spare;
    }
    const x = this.nextU32();
    const [sine, cosine] = normalPairFromWords(x, this.nextU32());
    this.#spareNormal = cosine;
    return sine;
  }

  /**
   * True with probability `p`, decided on the next word as an integer: true iff its uniform is at most `p`
   * rounded to f32. Never true for 0, always for 1; takes one word.
   *
   * @throws InvalidArgumentError if `p` is not in [0, 1].
   */
  nextBernoulli(p: number): boolean {
    if (p !== this.#bernoulliP) {
      this.#bernoulliEnd = firstWordAbove(checkProbability('p', p));
      this.#bernoulliP = p;
    }
    return this.nextU32() < this.#bernoulliEnd;
  }

  #drawBlock(): void {
    const c = this.#next;
    philox4x32Into(this.#block, 0, c[0], c[1], c[2], c[3], this.#k0, this.#k1, this.#rounds);
    this.#lane = 0;
    // A word that wraps around carries into the next one.
    for (let n = 0; n < 4; n++) if (++c[n] <= 0xffffffff) return;
  }
}
