/** A row of a matrix. */
export type Vector = readonly number[];

/** Queries, keys, values and the gradient of the outputs, a vector for each token. */
export interface Tokens {
  readonly q: readonly Vector[];
  readonly k: readonly Vector[];
  readonly v: readonly Vector[];
  readonly dO: readonly Vector[];
}

/** Attention and its backward pass for some tokens, in f64, with all intermediates. */
export interface AttentionNumbers {
  readonly S: readonly Vector[];
  readonly P: readonly Vector[];
  readonly O: readonly Vector[];
  readonly lse: readonly number[];
  readonly dP: readonly Vector[];
  readonly D: readonly number[];
  readonly dS: readonly Vector[];
  readonly dQ: readonly Vector[];
  readonly dK: readonly Vector[];
  readonly dV: readonly Vector[];
}

/** Σ a_c · b_c. */
export const inner = (a: Vector, b: Vector): number => a.reduce((sum, x, c) => sum + x * (b[c] ?? 0), 0);

/** Σ_j w_j · rows_j. */
function combine(weights: Vector, rows: readonly Vector[]): Vector {
  const [first = []] = rows;
  return first.map((_, c) => weights.reduce((sum, w, j) => sum + w * (rows[j]?.[c] ?? 0), 0));
}

const column = (rows: readonly Vector[], j: number): Vector => rows.map(row => row[j] ?? 0);

/**
 * O = softmax(Q·Kᵀ)·V and the gradients of Σ dO ∘ O, by the formulas of the backward chapter. All
 * intermediate matrices are stored, which is what flash attention avoids.
 */
export function attentionNumbers({ q, k, v, dO }: Tokens): AttentionNumbers {
  const S = q.map(row => k.map(key => inner(row, key)));
  const lse = S.map(row => {
    const m = Math.max(...row);
    return m + Math.log(row.reduce((sum, x) => sum + Math.exp(x - m), 0));
  });
  const P = S.map((row, i) => row.map(x => Math.exp(x - (lse[i] ?? 0))));
  const O = P.map(row => combine(row, v));
  const dP = dO.map(row => v.map(value => inner(row, value)));
  const D = dO.map((row, i) => inner(row, O[i] ?? []));
  const dS = P.map((row, i) => row.map((p, j) => p * ((dP[i]?.[j] ?? 0) - (D[i] ?? 0))));
  return {
    S,
    P,
    O,
    lse,
    dP,
    D,
    dS,
    dQ: dS.map(row => combine(row, k)),
    dK: k.map((_, j) => combine(column(dS, j), q)),
    dV: v.map((_, j) => combine(column(P, j), dO)),
  };
}
