import { philox4x64 } from '../block/block64.ts';
import { checkOptions, InvalidArgumentError } from '../errors.ts';
import { toUint, type Uint } from '../u64.ts';
import { seedSequenceState } from './numpy-seed-sequence.ts';

/** The initial state of NumPy's generator: a seed or a 128-bit key, and a 256-bit counter, 0 by default. */
export type NumpyPhiloxOptions = (
  | { readonly seed: Uint; readonly key?: undefined }
  | { readonly key: Uint; readonly seed?: undefined }
) & {
  readonly counter?: Uint | undefined;
};

/**
 * NumPy's `np.random.Philox`, which is Philox4x64-10 with the counter incremented **before** each block.
 *
 * Source: `numpy/random/src/philox/philox.h` and `_philox.pyx`.
 */
export class NumpyPhilox {
  readonly #key: bigint;
  /** The counter of the current block. */
  #counter: bigint;
  #block: readonly bigint[] = [];
  #lane = 4;
  #upperHalf: number | undefined;

  /**
   * A generator like `np.random.Philox(seed)`, or `np.random.Philox(key=…, counter=…)`.
   *
   * @throws InvalidArgumentError if the seed is not an integer in [0, 2^256), the key not one in [0, 2^128),
   * or the counter not one in [0, 2^256), and if there are both a seed and a key.
   */
  constructor(options: NumpyPhiloxOptions) {
    checkOptions('options', options, ['seed', 'key', 'counter']);
    if (options.key !== undefined) {
      if (options.seed !== undefined)
        throw new InvalidArgumentError('options', 'must not have both a seed and a key');
      this.#key = toUint(options.key, 'key', 128);
    } else {
      const [low = 0n, high = 0n] = seedSequenceState(toUint(options.seed, 'seed', 256), 2);
      this.#key = (high << 64n) | low;
    }
    this.#counter = toUint(options.counter ?? 0, 'counter', 256);
  }

  /** The 128-bit key. */
  get key(): bigint {
    return this.#key;
  }

  /** The 256-bit counter of the current block; the next block has the next counter. */
  get counter(): bigint {
    return this.#counter;
  }

  /** The next unsigned 64-bit integer: `random_raw()`. */
  nextRaw(): bigint {
    if (this.#lane === 4) {
      this.#counter = BigInt.asUintN(256, this.#counter + 1n);
      const c = this.#counter;
      this.#block = philox4x64([c, c >> 64n, c >> 128n, c >> 192n], [this.#key, this.#key >> 64n]);
      this.#lane = 0;
    }
    return this.#block[this.#lane++] ?? 0n;
  }

  /** The next unsigned 32-bit integer: the low half of a 64-bit draw, then its high half. */
  nextU32(): number {
    const kept = this.#upperHalf;
    if (kept !== undefined) {
      this.#upperHalf = undefined;
      return kept;
    }
    const raw = this.nextRaw();
    this.#upperHalf = Number(raw >> 32n);
    return Number(BigInt.asUintN(32, raw));
  }

  /** A double in [0, 1) with 53 random bits, like `Generator.random()`. */
  nextDouble(): number {
    return Number(this.nextRaw() >> 11n) * 2 ** -53;
  }

  /** An f32 in [0, 1) with 24 random bits, like `Generator.random(dtype=float32)`. */
  nextFloat(): number {
    return (this.nextU32() >>> 8) * 2 ** -24;
  }

  /**
   * Advances the counter by `blocks` blocks of four 64-bit draws (NumPy's documentation says draws) and
   * discards the rest of the current block: `advance()`.
   *
   * @throws InvalidArgumentError if `blocks` is not an integer in [0, 2^256).
   */
  advance(blocks: Uint): void {
    this.#counter = BigInt.asUintN(256, this.#counter + toUint(blocks, 'blocks', 256));
    this.#lane = 4;
    this.#upperHalf = undefined;
  }

  /**
   * A new generator, `jumps`·2^128 blocks further on: `jumped()`.
   *
   * @throws InvalidArgumentError if `jumps` is not an integer in [0, 2^128).
   */
  jumped(jumps: Uint = 1): NumpyPhilox {
    const counter = BigInt.asUintN(256, this.#counter + (toUint(jumps, 'jumps', 128) << 128n));
    return new NumpyPhilox({ key: this.#key, counter });
  }
}
