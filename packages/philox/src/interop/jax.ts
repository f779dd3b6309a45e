import { philox4x32, type U32x2, type U32x4 } from '../block/block4x32.ts';
import { lowWords, toU64, toUint, type Uint } from '../u64.ts';

/*
 * JAX's `philox4x32` PRNG implementation. Source: `jax/_src/random/philox4x32.py`; equal to runs of
 * JAX 0.10.2.
 */

/**
 * `jax.random.key(seed, impl='philox4x32')`: the key of two 32-bit words.
 *
 * @throws InvalidArgumentError if the seed is not an unsigned 64-bit integer.
 */
export function jaxPhiloxKey(seed: Uint): U32x2 {
  const [lo, hi] = toU64(seed, 'seed');
  return firstTwo(philox4x32([hi, lo, 0, 0], [0, 0]));
}

/**
 * `jax.random.bits`: `count` 32-bit elements, each the exclusive or of the four words of its own block.
 *
 * @throws InvalidArgumentError if `count` is not a whole number below 2^32.
 */
export function jaxPhiloxBits(key: Readonly<U32x2>, count: number): Uint32Array<ArrayBuffer> {
  return Uint32Array.from({ length: Number(toUint(count, 'count', 32)) }, (_, n) => {
    const [a, b, c, d] = philox4x32([0, n, 0, 0], key);
    return a ^ b ^ c ^ d;
  });
}

/**
 * `jax.random.split(key, count)`.
 *
 * @throws InvalidArgumentError if `count` is not a whole number below 2^32.
 */
export function jaxPhiloxSplit(key: Readonly<U32x2>, count: number = 2): U32x2[] {
  const length = Number(toUint(count, 'count', 32));
  return Array.from({ length }, (_, n) => firstTwo(philox4x32([0, 0, 0, n], key)));
}

/**
 * `jax.random.fold_in(key, data)`.
 *
 * @throws InvalidArgumentError if `data` is not an unsigned 32-bit integer.
 */
export function jaxPhiloxFoldIn(key: Readonly<U32x2>, data: Uint): U32x2 {
  const [word] = lowWords(toUint(data, 'data', 32));
  return firstTwo(philox4x32([0, 0, 0, word], key));
}

function firstTwo([a, b]: U32x4): U32x2 {
  return [a, b];
}
