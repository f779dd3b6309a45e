import { exp } from './exp.ts';

/**
 * The running softmax of a query tile (Milakov and Gimelshein 2018): of the scores so far, each row's largest m and
 * l = Σ e^(s − m).
 */
export interface OnlineSoftmax {
  readonly m: Float64Array;
  readonly l: Float64Array;
  /** Forgets all scores of `rows` rows. A sink is a score that was there before the first; −Infinity is none. */
  start(rows: number, sink: number): void;
  /**
   * Takes in a tile of scores (row-major, `ld` apart) and replaces each by e^(s − m). Where a row's m grows, its row of
   * `sums` (n wide, `ldSums` apart), which weighs earlier tiles by the old m, is brought to the new one.
   */
  update(
    scores: Float32Array,
    ld: number,
    rows: number,
    columns: number,
    sums: Float32Array,
    ldSums: number,
    n: number,
  ): void;
}

/** A running softmax for query tiles of at most `rows` rows. */
export function createOnlineSoftmax(rows: number): OnlineSoftmax {
  const m = new Float64Array(rows);
  const l = new Float64Array(rows);
  return {
    m,
    l,
    start(count, sink) {
      m.fill(sink, 0, count);
      l.fill(sink === -Infinity ? 0 : 1, 0, count);
    },
    update(scores, ld, count, columns, sums, ldSums, n) {
      for (let i = 0; i < count; i++) {
        const from = i * ld;
        const to = from + columns;
        let most = m[i];
        for (let at = from; at < to; at++) if (scores[at] > most) most = scores[at];
        if (most === -Infinity) {
          l[i] += weighUnseen(scores, from, to);
          continue;
        }
        if (most > m[i]) {
          const shrink = exp(m[i] - most);
          l[i] *= shrink;
          for (let at = i * ldSums; at < i * ldSums + n; at++) sums[at] *= shrink;
          m[i] = most;
        }
        let sum = 0;
        for (let at = from; at < to; at++) {
          const weight = exp(scores[at] - most);
          scores[at] = weight;
          sum += weight;
        }
        l[i] += sum;
      }
    },
  };
}

/** Weights of a row without a score above −Infinity: it has seen nothing, or NaN, which stays. Gives their sum. */
function weighUnseen(scores: Float32Array, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at++) {
    if (scores[at] === -Infinity) scores[at] = 0;
    sum += scores[at];
  }
  return sum;
}
