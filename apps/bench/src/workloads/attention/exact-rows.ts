import type { Tensor } from '@tilewise/core';

/**
 * A call whose rows can be computed one by one: all tensors are (B, H, S, D), with the default scale, causal
 * or not. For backward, all tensors have the same heads; for forward, query heads may share heads of k and v.
 */
export interface SampledCall {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly causal: boolean;
  /** The number of keys before its own that a query of a causal call sees; default: all. */
  readonly left?: number;
}

/** The results of a forward pass, and the gradients of its backward pass. */
export interface SampledForward {
  readonly o: Tensor;
  readonly lse: Tensor;
}

export interface SampledBackward extends SampledForward {
  readonly dO: Tensor;
  readonly dq: Tensor;
  readonly dk: Tensor;
  readonly dv: Tensor;
}

/** A row of a (B, H, S, D) tensor: head is b·H + h. */
export interface RowPlace {
  readonly head: number;
  readonly row: number;
}

/** The rows of a tensor. */
export type Rows = (place: RowPlace) => Float64Array;

/** A row of o, its lse and its probabilities, by the definition. */
export function forwardRow(
  call: SampledCall,
  { head, row }: RowPlace,
): { o: Float64Array; lse: number; p: Float64Array } {
  const scores = scoresOf(call, { head, row });
  const max = scores.reduce((most, s) => Math.max(most, s), -Infinity);
  const sum = scores.reduce((total, s) => total + Math.exp(s - max), 0);
  const p = scores.map(s => Math.exp(s - max) / sum);
  const { from } = visibleKeys(call, row);
  return { o: weighted(rowsOf(call.v), keyHead(call, head), p, from), lse: max + Math.log(sum), p };
}

/** The sampled rows of dq, dk and dv by their definition. */
export function exactGradients(
  call: SampledCall,
  results: SampledBackward,
  places: readonly RowPlace[],
): Readonly<Record<'dq' | 'dk' | 'dv', Float64Array[]>> {
  const dO = rowsOf(results.dO);
  const columns = places.map(place => keyGradients(call, results, place));
  return {
    dq: places.map(place => dqRow(call, dO, place)),
    dk: columns.map(column => column.dk),
    dv: columns.map(column => column.dv),
  };
}

/** dq_i = scale · Σ_j p_ij (dO_i·v_j − dO_i·o_i) k_j. */
function dqRow(call: SampledCall, dO: Rows, place: RowPlace): Float64Array {
  const { o, p } = forwardRow(call, place);
  const v = rowsOf(call.v);
  const g = dO(place);
  const delta = dot(g, o);
  const { from } = visibleKeys(call, place.row);
  const ds = p.map((pj, n) => pj * (dot(g, v({ head: place.head, row: from + n })) - delta));
  return weighted(rowsOf(call.k), place.head, ds, from).map(x => x * scaleOf(call));
}

/** dk_j = scale · Σ_i ds_ij q_i and dv_j = Σ_i p_ij dO_i, over the queries that see key j. */
function keyGradients(
  call: SampledCall,
  results: SampledBackward,
  { head, row: j }: RowPlace,
): { dk: Float64Array; dv: Float64Array } {
  const [q, o, dO, lse] = [rowsOf(call.q), rowsOf(results.o), rowsOf(results.dO), valuesOf(results.lse)];
  const [kj, vj] = [rowsOf(call.k), rowsOf(call.v)].map(rows => rows({ head, row: j }));
  const scale = scaleOf(call);
  const dk = new Float64Array(kj.length);
  const dv = new Float64Array(vj.length);
  const { left = Infinity } = call;
  const end = Math.min(call.q.shape[2], call.causal ? j + left + 1 : Infinity);
  for (let i = call.causal ? j : 0; i < end; i++) {
    const place = { head, row: i };
    const [qi, g] = [q(place), dO(place)];
    const p = Math.exp(scale * dot(qi, kj) - lse(place)[0]);
    const ds = p * (dot(g, vj) - dot(g, o(place)));
    qi.forEach((x, d) => {
      dk[d] += scale * ds * x;
    });
    g.forEach((x, d) => {
      dv[d] += p * x;
    });
  }
  return { dk, dv };
}

/** The keys that a query sees: from the first up to, but not including, the last. */
function visibleKeys({ k, causal, left = Infinity }: SampledCall, row: number): { from: number; to: number } {
  return causal ? { from: Math.max(0, row - left), to: row + 1 } : { from: 0, to: k.shape[2] };
}

function scoresOf(call: SampledCall, { head, row }: RowPlace): Float64Array {
  const k = rowsOf(call.k);
  const query = rowsOf(call.q)({ head, row });
  const { from, to } = visibleKeys(call, row);
  const shared = keyHead(call, head);
  return Float64Array.from(
    { length: to - from },
    (_, n) => scaleOf(call) * dot(query, k({ head: shared, row: from + n })),
  );
}

/** The weighted sum of rows, the first of them at `from`. */
function weighted(rows: Rows, head: number, weights: Float64Array, from: number): Float64Array {
  const sum = new Float64Array(rows({ head, row: from }).length);
  weights.forEach((weight, n) => {
    rows({ head, row: from + n }).forEach((x, d) => {
      sum[d] += weight * x;
    });
  });
  return sum;
}

/** The head of k and v that a head of q sees. */
function keyHead({ q, k }: SampledCall, head: number): number {
  const [Hq, Hk] = [q.shape[1], k.shape[1]];
  return Math.floor(head / Hq) * Hk + Math.floor(((head % Hq) * Hk) / Hq);
}

const scaleOf = ({ q }: SampledCall): number => 1 / Math.sqrt(q.shape[3]);

/** Rows of a contiguous f32 tensor (B, H, S, D). */
export function rowsOf(tensor: Tensor): Rows {
  const [, , S, D] = tensor.shape;
  return ({ head, row }) => {
    const at = tensor.offset + (head * S + row) * D;
    return Float64Array.from(tensor.data.subarray(at, at + D));
  };
}

/** Values of a contiguous f32 tensor (B, H, S), as rows of one. */
export function valuesOf(tensor: Tensor): Rows {
  const S = tensor.shape[2];
  return ({ head, row }) => Float64Array.of(tensor.data[tensor.offset + head * S + row]);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}
