import { type DType, encodeArray, type Shape, Tensor } from '@tilewise/core';
import { fillNormal, fillU32, type StreamOptions } from '@tilewise/philox';
import type { Concrete } from '../concrete/concrete.ts';

/** q, k, v and dO: contiguous (B, H, S, D), or in the layout of the case. */
export type Operands = Readonly<Record<'q' | 'k' | 'v' | 'dO', Tensor>>;

/**
 * The tensors that a call may need. Each has its own random stream, so that its values do not depend on which
 * others exist.
 */
const purposes = ['q', 'k', 'v', 'dO', 'bias', 'sink', 'dropoutMask', 'blockMask', 'documents'] as const;
type Purpose = (typeof purposes)[number];

/** Draws a number of values from a stream. */
type Draw = (count: number, stream: StreamOptions) => Float64Array;

/** One value from each word. */
const fromWords =
  (value: (word: number) => number): Draw =>
  (count, stream) => {
    const words = fillU32(new Uint32Array(count), stream);
    const values = new Float64Array(count);
    for (let n = 0; n < count; n++) values[n] = value(words[n]);
    return values;
  };

const uniform = (lo: number, hi: number): Draw => fromWords(word => lo + (word / 2 ** 32) * (hi - lo));
const normal: Draw = (count, stream) => Float64Array.from(fillNormal(new Float32Array(count), stream));
const one: Draw = count => new Float64Array(count).fill(1);
const scaled =
  (factor: number, draw: Draw, shift = 0): Draw =>
  (count, stream) =>
    draw(count, stream).map(x => factor * (x + shift));

/**
 * An integer in [−2, 2] with probability 1/5, else 0: exact in every dtype, and so are the products and most
 * sums.
 */
const sparseInteger: Draw = fromWords(word => {
  const u = (word / 2 ** 32) * 5;
  return u < 4 ? 0 : Math.floor((u - 4) * 5) - 2;
});

interface Distribution {
  readonly matches: RegExp;
  readonly draw: Readonly<Partial<Record<Purpose, Draw>>>;
  readonly otherwise: Draw;
}

/** Parses a case's description of how its values are drawn. */
const distributions: readonly Distribution[] = [
  { matches: /^randn; (loss=o\.sum\(\) \(dO=1\)|dO=1)$/, draw: { dO: one }, otherwise: normal },
  {
    matches: /^q,k,v=randn-0\.5; dO=0\.1\*randn; bias=randn$/,
    draw: { dO: scaled(0.1, normal), bias: normal, sink: normal },
    otherwise: scaled(1, normal, -0.5),
  },
  {
    matches: /^Q~U\[0\.125,0\.25\], K~U\[-0\.03125,-0\.015625\]; every row max in \(-0\.1,0\)$/,
    draw: { q: uniform(0.125, 0.25), k: uniform(-0.03125, -0.015625) },
    otherwise: sparseInteger,
  },
  // In every case, outputs contain NaN before the call.
  { matches: /^randn inputs; OUTPUT buffers \(.*\) pre-poisoned with .*$/, draw: {}, otherwise: normal },
  { matches: /^randn$/, draw: {}, otherwise: normal },
  { matches: /^sparse integers$/, draw: {}, otherwise: sparseInteger },
];

/**
 * The number of values drawn at a time: a tensor of a long context is larger than a cache, and many times
 * larger in f64.
 */
const PIECE = 2 ** 14;

/**
 * A contiguous tensor of a call, with each value rounded to the dtype.
 * @throws Error if the description of the case's data is not known.
 */
export function drawTensor({ seed, data }: Concrete, purpose: Purpose, shape: Shape, dtype: DType): Tensor {
  const words = data ?? 'sparse integers';
  const distribution = distributions.find(({ matches }) => matches.test(words));
  if (!distribution) throw new Error(`the runner does not know how to draw '${words}'`);
  const draw = distribution.draw[purpose] ?? distribution.otherwise;
  const stream = streamOf(seed, purpose);
  const tensor = Tensor.zeros(shape, { dtype });
  for (let offset = 0; offset < tensor.size; offset += PIECE) {
    const values = draw(Math.min(PIECE, tensor.size - offset), { ...stream, offset });
    encodeArray(dtype, values, tensor.data.subarray(offset));
  }
  return tensor;
}

/** Random bytes. */
export function drawBytes({ seed }: Concrete, purpose: Purpose, count: number): number[] {
  return Array.from(fillU32(new Uint32Array(count), streamOf(seed, purpose)), word => word >>> 24);
}

/** 1 with probability `p`, else 0. */
export function drawBits({ seed }: Concrete, purpose: Purpose, p: number, count: number): Float64Array {
  return fromWords(word => Number(word / 2 ** 32 < p))(count, streamOf(seed, purpose));
}

function streamOf(seed: bigint, purpose: Purpose): StreamOptions {
  return { seed, subsequence: purposes.indexOf(purpose) };
}
