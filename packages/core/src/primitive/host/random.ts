import { createDropout, joinU64, philox4x32Into, type U64, uniformFromWord } from '@tilewise/philox';
import { elementCount } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { RandomPrimitive } from '../primitive.ts';
import { lineWriter } from './lines/line-writer.ts';
import { forEachIndex, offsetOf } from './lines/reader.ts';

/** Runs a random draw on host tensors. */
export function runRandom(
  { distribution }: RandomPrimitive,
  [seed, offset, p]: readonly Tensor[],
  output: Tensor,
): void {
  const draw =
    distribution === 'bernoulli'
      ? bernoulli(words(seed), words(offset), p.get(), elementCount(output.shape))
      : uniform(words(seed), words(offset));
  const write = lineWriter(output);
  const line = new Float64Array(1);
  let n = 0;
  forEachIndex(output.shape, index => {
    line[0] = draw(n++);
    write(line, 1, output.offset + offsetOf(index, output.strides), 1);
  });
}

function words(t: Tensor): U64 {
  return [t.get(0) >>> 0, t.get(1) >>> 0];
}

function bernoulli(seed: U64, offset: U64, p: number, count: number): (n: number) => number {
  const { keepRow } = createDropout({
    scheme: 'onednn',
    p,
    seed: joinU64(seed),
    offset: joinU64(offset),
    shape: { B: 1, H: 1, Sq: 1, Skv: count },
  });
  const block = new Uint8Array(4096);
  return n => {
    const at = n % block.length;
    if (at === 0) keepRow(0, 0, 0, n, Math.min(n + block.length, count), block, 0);
    return block[at];
  };
}

function uniform([k0, k1]: U64, [o0, o1]: U64): (n: number) => number {
  const block = new Uint32Array(4);
  return n => {
    const quad = n - (n % 4);
    if (n === quad) philox4x32Into(block, 0, o0, o1, quad >>> 0, Math.floor(quad / 2 ** 32), k0, k1, 10);
    return uniformFromWord(block[n % 4]);
  };
}
