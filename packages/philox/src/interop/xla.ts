import { describeValue, InvalidArgumentError, TilewiseError } from '../errors.ts';
import { fillBlocks } from '../stream/fill-blocks.ts';
import { lowWords, toUint, type Uint } from '../u64.ts';

/**
 * XLA's `RngBitGenerator` with the Philox algorithm, as the CPU and GPU compilers expand it: `count` 32-bit
 * words and the next state. `state` is two or three unsigned 64-bit integers, the first of which is the key.
 * The counter is state[1] + state[2]·2^64; if state[2] is missing, the key replaces it.
 *
 * A 64-bit element is two words, the low one first; narrower types take the low bits of one word each.
 * Source: `xla/hlo/builder/lib/prng.cc`; equal to runs of XLA on the CPU (jaxlib 0.10.2).
 *
 * @throws InvalidArgumentError if the state is not two or three unsigned 64-bit integers, or `count` is not a
 * whole number below 2^32; TilewiseError with code `OUT_OF_MEMORY`.
 */
export function xlaRngBitGenerator(
  state: readonly Uint[],
  count: number,
): { words: Uint32Array<ArrayBuffer>; state: bigint[] } {
  if (!Array.isArray(state))
    throw new InvalidArgumentError('state', `must be an array, got ${describeValue(state)}`);
  if (state.length !== 2 && state.length !== 3) {
    throw new InvalidArgumentError('state', `must have 2 or 3 elements, got ${state.length}`);
  }
  const [key = 0n, low = 0n, high = key] = state.map((word, n) => toUint(word, `state[${n}]`, 64));
  const length = Number(toUint(count, 'count', 32));
  const blocks = Math.ceil(length / 4);
  const words = allocateWords(4 * blocks);
  fillBlocks(words, 0, blocks, [...lowWords(low), ...lowWords(high)], lowWords(key), 10);
  const next = (high << 64n) + low + BigInt(blocks);
  const nextState = [key, BigInt.asUintN(64, next), BigInt.asUintN(64, next >> 64n)];
  return { words: words.subarray(0, length), state: nextState.slice(0, state.length) };
}

function allocateWords(count: number): Uint32Array<ArrayBuffer> {
  try {
    return new Uint32Array(count);
  } catch (cause) {
    throw new TilewiseError('OUT_OF_MEMORY', `no memory for ${count} words`, { cause });
  }
}
