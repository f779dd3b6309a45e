import { philox4x32Into } from '../block/block4x32.ts';
import { mulhi } from '../block/mulhi.ts';

/**
 * Writes the Philox4x32 blocks of `blocks` consecutive 128-bit counters to `out`, from `out[at]` on, four
 * words each.
 *
 * This is the inner loop of every bulk draw. Only the lowest counter word changes from block to block, until
 * it wraps around and carries into the others.
 */
export function fillBlocks(
  out: Uint32Array,
  at: number,
  blocks: number,
  counter: readonly [number, number, number, number],
  key: readonly [number, number],
  rounds: number,
): void {
  let [c0, c1, c2, c3] = counter;
  const [k0, k1] = key;
  let done = 0;
  while (done < blocks) {
    const run = Math.min(blocks - done, 2 ** 32 - (c0 >>> 0));
    const first = at + 4 * done;
    if (rounds > 1) fillRun(out, first, run, c0, c1, c2, c3, k0, k1, rounds);
    else {
      for (let n = 0; n < run; n++) philox4x32Into(out, first + 4 * n, c0 + n, c1, c2, c3, k0, k1, rounds);
    }
    done += run;
    c0 = (c0 + run) | 0;
    if (c0 !== 0) return;
    c1 = (c1 + 1) | 0;
    if (c1 === 0) c2 = (c2 + 1) | 0;
    if (c1 === 0 && c2 === 0) c3 = (c3 + 1) | 0;
  }
}

/**
 * A run in which only c0 changes, for at least two rounds. The parts of the first two rounds that depend only
 * on the constant words are computed once, and the loop over the remaining rounds does two at a time.
 */
function fillRun(
  out: Uint32Array,
  at: number,
  blocks: number,
  start: number,
  c1: number,
  c2: number,
  c3: number,
  k0: number,
  k1: number,
  rounds: number,
): void {
  const secondA = (k0 + 0x9e3779b9) | 0;
  const secondB = (k1 + 0xbb67ae85) | 0;
  const thirdA = (secondA + 0x9e3779b9) | 0;
  const thirdB = (secondB + 0xbb67ae85) | 0;
  // Round 1 computes words 0 and 1 from c1, c2, c3 alone, so round 2 multiplies the same word 0 in every
  // block.
  const first0 = mulhi(c2, 0xcd9e, 0x8d57) ^ c1 ^ k0;
  const first1 = Math.imul(c2, 0xcd9e8d57);
  const first2 = c3 ^ k1;
  const second0 = first1 ^ secondA;
  const second2 = mulhi(first0, 0xd251, 0x1f53) ^ secondB;
  const second3 = Math.imul(first0, 0xd2511f53);
  const end = at + 4 * blocks;
  let c0 = start | 0;
  for (let o = at; o < end; o += 4) {
    const z2 = mulhi(c0, 0xd251, 0x1f53) ^ first2;
    const z3 = Math.imul(c0, 0xd2511f53);
    let x0 = mulhi(z2, 0xcd9e, 0x8d57) ^ second0;
    let x1 = Math.imul(z2, 0xcd9e8d57);
    let x2 = second2 ^ z3;
    let x3 = second3;
    let a = thirdA;
    let b = thirdB;
    for (let left = rounds - 2; left > 0; left -= 2) {
      const y0 = mulhi(x2, 0xcd9e, 0x8d57) ^ x1 ^ a;
      const y1 = Math.imul(x2, 0xcd9e8d57);
      const y2 = mulhi(x0, 0xd251, 0x1f53) ^ x3 ^ b;
      const y3 = Math.imul(x0, 0xd2511f53);
      a = (a + 0x9e3779b9) | 0;
      b = (b + 0xbb67ae85) | 0;
      if (left === 1) {
        x0 = y0;
        x1 = y1;
        x2 = y2;
        x3 = y3;
        break;
      }
      x0 = mulhi(y2, 0xcd9e, 0x8d57) ^ y1 ^ a;
      x1 = Math.imul(y2, 0xcd9e8d57);
      x2 = mulhi(y0, 0xd251, 0x1f53) ^ y3 ^ b;
      x3 = Math.imul(y0, 0xd2511f53);
      a = (a + 0x9e3779b9) | 0;
      b = (b + 0xbb67ae85) | 0;
    }
    out[o] = x0;
    out[o + 1] = x1;
    out[o + 2] = x2;
    out[o + 3] = x3;
    c0 = (c0 + 1) | 0;
  }
}
