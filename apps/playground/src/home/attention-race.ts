import { PhiloxStream } from '@tilewise/philox';

/** Attention of n queries over n keys in one head, computed in two ways, with the memory of each. */
export interface RaceResult {
  readonly n: number;
  /** Bytes allocated besides q, k, v and o. */
  readonly naiveBytes: number;
  readonly streamingBytes: number;
  /** The largest difference between the two outputs. */
  readonly difference: number;
}

const headSize = 8;
const tile = 32;

/** Allocates numbers, and counts their bytes. */
class Allocator {
  bytes = 0;
  floats(count: number): Float32Array {
    this.bytes += 4 * count;
    return new Float32Array(count);
  }
}

interface Inputs {
  readonly n: number;
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

function score({ q, k }: Inputs, i: number, j: number): number {
  let sum = 0;
  for (let c = 0; c < headSize; c++) sum += (q[i * headSize + c] ?? 0) * (k[j * headSize + c] ?? 0);
  return sum / Math.sqrt(headSize);
}

/** Attention as a textbook writes it: the scores and the weights are matrices. */
function naive(inputs: Inputs, o: Float32Array, memory: Allocator): void {
  const { n, v } = inputs;
  const S = memory.floats(n * n);
  const P = memory.floats(n * n);
  for (let i = 0; i < n; i++) {
    let m = Number.NEGATIVE_INFINITY;
    for (let j = 0; j < n; j++) {
      const x = score(inputs, i, j);
      S[i * n + j] = x;
      if (x > m) m = x;
    }
    let d = 0;
    for (let j = 0; j < n; j++) d += P[i * n + j] = Math.exp((S[i * n + j] ?? 0) - m);
    for (let j = 0; j < n; j++) {
      const p = (P[i * n + j] ?? 0) / d;
      for (let c = 0; c < headSize; c++)
        o[i * headSize + c] = (o[i * headSize + c] ?? 0) + p * (v[j * headSize + c] ?? 0);
    }
  }
}

/**
 * Computes attention tile by tile, with a running maximum, denominator and numerator; only lse is stored for
 * each row.
 */
function streaming(inputs: Inputs, o: Float32Array, memory: Allocator): void {
  const { n, v } = inputs;
  const lse = memory.floats(n);
  const weights = memory.floats(tile);
  const num = memory.floats(headSize);
  for (let i = 0; i < n; i++) {
    let m = Number.NEGATIVE_INFINITY;
    let d = 0;
    num.fill(0);
    for (let first = 0; first < n; first += tile) {
      const end = Math.min(n, first + tile);
      let next = m;
      for (let j = first; j < end; j++) {
        const x = score(inputs, i, j);
        weights[j - first] = x;
        if (x > next) next = x;
      }
      const factor = Math.exp(m - next);
      d *= factor;
      for (let c = 0; c < headSize; c++) num[c] = (num[c] ?? 0) * factor;
      for (let j = first; j < end; j++) {
        const p = Math.exp((weights[j - first] ?? 0) - next);
        d += p;
        for (let c = 0; c < headSize; c++) num[c] = (num[c] ?? 0) + p * (v[j * headSize + c] ?? 0);
      }
      m = next;
    }
    lse[i] = m + Math.log(d);
    for (let c = 0; c < headSize; c++) o[i * headSize + c] = (num[c] ?? 0) / d;
  }
}

/** Computes attention of n queries and keys in both ways. */
export function race(n: number): RaceResult {
  const stream = new PhiloxStream(1n);
  const random = (): Float32Array =>
    Float32Array.from({ length: n * headSize }, () => 4 * stream.nextUniform() - 2);
  const inputs = { n, q: random(), k: random(), v: random() };
  const run = (way: typeof naive): { o: Float32Array; bytes: number } => {
    const memory = new Allocator();
    const o = new Float32Array(n * headSize);
    way(inputs, o, memory);
    return { o, bytes: memory.bytes };
  };
  const [stored, streamed] = [run(naive), run(streaming)];
  const difference = stored.o.reduce((most, x, at) => Math.max(most, Math.abs(x - (streamed.o[at] ?? 0))), 0);
  return { n, naiveBytes: stored.bytes, streamingBytes: streamed.bytes, difference };
}
