import type { GoldenCase } from './parse-golden.ts';

/**
 * The rounding of o that remains in dbias, dslopes and dsink. Backward computes delta_i = Σ_d dO_id o_id from
 * the o that forward stored, each element with a relative error of at most u, so that delta_i is off by at
 * most u·A_i, where A_i = Σ_d |dO_id o_id|. An element of dbias is Σ P_ij (dP_ij − delta_i) over the rows i
 * and keys j that share it, and one of dslopes weights each term with its distance |i + off − j|. In exact
 * arithmetic the terms of a row cancel over its keys (Σ_j P_ij dP_ij = delta_i and Σ_j P_ij = 1), while the
 * error of delta_i counts Σ_j P_ij ≤ 1 times. So the element is off by at most u·ΣA_i over its rows, for
 * dslopes times the largest distance of each row, however small the element is itself. One of dsink is
 * −Σ p_i delta_i over the rows of a head, with the probability p_i = exp(sink − lse_i) of the sink, so it is
 * off by at most u·Σp_i A_i. This function returns the largest such sum over the elements; 0 for other
 * tensors.
 */
export function keptRounding(golden: GoldenCase, tensor: string, u: number): number {
  const { bias } = golden.inputs;
  if (tensor === 'dbias' && !bias) return 0;
  const factorOf = factors[tensor];
  if (!factorOf) return 0;
  const source = bias ? [...Array<number>(4 - bias.shape.length).fill(1), ...bias.shape] : [];
  const sums = new Map<string, number>();
  for (const row of rowsOf(golden)) {
    const { place } = row;
    const element =
      tensor === 'dbias' ? place.map((n, d) => (source[d] === 1 ? 0 : n)).join() : String(place[1]);
    sums.set(element, (sums.get(element) ?? 0) + row.size * factorOf(row));
  }
  return u * Math.max(0, ...sums.values());
}

/** The factor of a row's error in an element of each tensor. */
const factors: Readonly<Record<string, (row: Row) => number>> = {
  dbias: () => 1,
  dAlibi: ({ distance }) => distance,
  dsink: ({ sink }) => sink,
};

interface Row {
  /** Sequence, head and query. */
  readonly place: readonly [number, number, number];
  /** Σ_d |dO_id o_id| */
  readonly size: number;
  /** The largest distance of a key from the diagonal, where `causal` does not hide the key. */
  readonly distance: number;
  /** The probability of the sink; 0 without one. */
  readonly sink: number;
}

/** The query rows of a case. */
function* rowsOf({ params, inputs, outputs }: GoldenCase): Generator<Row> {
  const { dO, cuSeqQ, cuSeqKv, sink } = inputs;
  const { o, lse } = outputs;
  if (!dO || !o) return;
  const { B, Hq, Sq, Skv, Dv, qLens, kvLens, causal, align } = params;
  const lengthOf = (cumulative: typeof cuSeqQ, b: number): number | undefined =>
    cumulative && Number(cumulative.data[b + 1]) - Number(cumulative.data[b]);
  for (let b = 0; b < B; b++) {
    const queries = lengthOf(cuSeqQ, b) ?? qLens?.[b] ?? Sq;
    const keys = lengthOf(cuSeqKv, b) ?? kvLens?.[b] ?? Skv;
    for (let h = 0; h < Hq; h++) {
      for (let i = 0; i < queries; i++) {
        const row = cuSeqQ ? (Number(cuSeqQ.data[b]) + i) * Hq + h : (b * Hq + h) * Sq + i;
        let size = 0;
        for (let at = row * Dv; at < (row + 1) * Dv; at++)
          size += Math.abs(Number(dO.data[at]) * Number(o.data[at]));
        const diagonal = align === 'br' ? i + keys - queries : i;
        const after = causal ? 0 : keys - 1 - diagonal;
        // With packed sequences, lse is (Hq, T).
        const ofLse = cuSeqQ ? h * (o.data.length / Dv / Hq) + Number(cuSeqQ.data[b]) + i : row;
        const ofSink = sink && lse ? Math.exp(Number(sink.data[h]) - Number(lse.data[ofLse])) : 0;
        yield { place: [b, h, i], size, distance: Math.max(0, diagonal, after), sink: ofSink };
      }
    }
  }
}
