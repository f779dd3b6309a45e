import { checkProbability, describeValue, InvalidArgumentError } from '../errors.ts';
import { lowWords } from '../u64.ts';
import { fillBlocks } from './fill-blocks.ts';
import { normalPairFromWords } from './normal.ts';
import { joinCounter, type StreamAddress, type StreamOptions, streamAddress } from './stream-address.ts';
import { firstWordAbove, uniformFromWord } from './uniform.ts';

/** The number of words that are drawn at a time if the destination cannot hold them. */
const CHUNK = 1024;

/**
 * Fills `out` with the words of a Philox4x32 stream; `out[i]` is the word at `offset + i` (cuRAND's order).
 * Returns `out`.
 *
 * @throws InvalidArgumentError if an option is out of range or `out` is not a Uint32Array.
 */
export function fillU32<A extends Uint32Array>(out: A, options: StreamOptions): A {
  checkArray(out, Uint32Array);
  fillWords(out, streamAddress(options));
  return out;
}

/**
 * Fills `out` with f32 uniforms in [2^-33, 1], bit-equal to cuRAND's (see `uniformFromWord`): `out[i]` comes
 * from the word at `offset + i`. Returns `out`.
 *
 * @throws InvalidArgumentError if an option is out of range or `out` is not a Float32Array.
 */
export function fillUniform<A extends Float32Array>(out: A, options: StreamOptions): A {
  const words = wordsUnder(out);
  fillWords(words, streamAddress(options));
  for (let i = 0; i < words.length; i++) out[i] = uniformFromWord(words[i] ?? 0);
  return out;
}

/**
 * Fills `out` with standard normals in f32, in the order of `curand_normal4`: elements 2k and 2k+1 come from
 * the words at `offset + 2k` and `offset + 2k + 1`. Returns `out`. Not bit-portable: see
 * `normalPairFromWords`.
 *
 * @throws InvalidArgumentError if an option is out of range or `out` is not a Float32Array.
 */
export function fillNormal<A extends Float32Array>(out: A, options: StreamOptions): A {
  const words = wordsUnder(out);
  const address = streamAddress(options);
  fillWords(words, address);
  const even = words.length & ~1;
  for (let i = 0; i < even; i += 2) {
    const [sine, cosine] = normalPairFromWords(words[i] ?? 0, words[i + 1] ?? 0);
    out[i] = sine;
    out[i + 1] = cosine;
  }
  if (even < words.length) {
    const last = fillWords(new Uint32Array(2), advance(address, even));
    out[even] = normalPairFromWords(last[0] ?? 0, last[1] ?? 0)[0];
  }
  return out;
}

/**
 * Fills `out` with Bernoulli draws, 1 with probability `p` and 0 otherwise, decided on the integer word:
 * `out[i]` is 1 iff the uniform of the word at `offset + i` is at most `p` rounded to f32 (PyTorch's rule on
 * CUDA). Returns `out`.
 *
 * @throws InvalidArgumentError if an option or `p` is out of range or `out` is not a Uint8Array.
 */
export function fillBernoulli<A extends Uint8Array>(
  out: A,
  options: StreamOptions & { readonly p: number },
): A {
  checkArray(out, Uint8Array);
  const address = streamAddress(options, ['p']);
  const end = firstWordAbove(checkProbability('p', options.p));
  const words = new Uint32Array(Math.min(CHUNK, out.length));
  for (let done = 0; done < out.length; done += CHUNK) {
    const drawn = fillWords(words.subarray(0, out.length - done), advance(address, done));
    for (let i = 0; i < drawn.length; i++) out[done + i] = (drawn[i] ?? 0) < end ? 1 : 0;
  }
  return out;
}

/** Both element types are four bytes wide, so the words can be drawn into the memory of the floats. */
function wordsUnder(out: Float32Array): Uint32Array {
  checkArray(out, Float32Array);
  try {
    return new Uint32Array(out.buffer, out.byteOffset, out.length);
  } catch {
    throw new InvalidArgumentError('out', 'was transferred');
  }
}

function checkArray(
  out: unknown,
  type: Float32ArrayConstructor | Uint32ArrayConstructor | Uint8ArrayConstructor,
): void {
  if (!(out instanceof type))
    throw new InvalidArgumentError('out', `must be a ${type.name}, got ${describeValue(out)}`);
}

/** The address of the word that is `words` further on; the counter wraps around at 128 bits. */
function advance(address: StreamAddress, words: number): StreamAddress {
  const word = address.lane + words;
  const counter = joinCounter(address.counter) + BigInt(Math.floor(word / 4));
  return { ...address, counter: [...lowWords(counter), ...lowWords(counter >> 64n)], lane: word % 4 };
}

function fillWords(out: Uint32Array, address: StreamAddress): Uint32Array {
  const { key, rounds, lane } = address;
  const head = lane === 0 ? 0 : Math.min(out.length, 4 - lane);
  if (head > 0) copyBlockPart(out, 0, head, address);
  const blocks = Math.floor((out.length - head) / 4);
  const body = head === 0 ? address : advance(address, head);
  fillBlocks(out, head, blocks, body.counter, key, rounds);
  const done = head + 4 * blocks;
  if (done < out.length) copyBlockPart(out, done, out.length - done, advance(address, done));
  return out;
}

function copyBlockPart(out: Uint32Array, at: number, count: number, address: StreamAddress): void {
  const block = new Uint32Array(4);
  fillBlocks(block, 0, 1, address.counter, address.key, address.rounds);
  out.set(block.subarray(address.lane, address.lane + count), at);
}
