import type { Tensor } from '@tilewise/core';
import { WrongResult } from './suite.ts';

/** A call whose rows can be computed one by one: (B, H, S, D) all through, default scale, causal or not. */
export interface SampledCall {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly causal: boolean;
}

/** What a forward pass gave, and what backward made of it. */
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

type Rows = (place: RowPlace) => Float64Array;

/** Rows to look at: the first, the last, and `count` between them, in alternating heads. */
export function sampleRows({ q }: SampledCall, count: number): RowPlace[] {
  const [B, H, S] = q.shape;
  return Array.from({ length: count + 2 }, (_, n) => ({
    head: (n * 7) % (B * H),
    row: Math.floor((n * (S - 1)) / (count + 1)),
  }));
}

/**
 * Checks rows of o and values of lse against the definition in float64.
 * @throws WrongResult naming the tensor and the row that is off by more than 1e-5 of its largest value (or of 1).
 */
export function checkForward(
  call: SampledCall,
  { o, lse }: SampledForward,
  places: readonly RowPlace[],
): void {
  const exact = places.map(place => forwardRow(call, place));
  check(
    'o',
    places,
    rowsOf(o),
    exact.map(row => row.o),
    1e-5,
  );
  check(
    'lse',
    places,
    valuesOf(lse),
    exact.map(row => Float64Array.of(row.lse)),
    1e-5,
  );
}

/**
 * Checks rows of dq, dk and dv against the definition in float64. Rows of dq are computed from q, k, v and dO alone; rows of
 * dk and dv depend on all queries, whose lse and o are taken from the forward pass, which `checkForward` has looked at.
 * @throws WrongResult as `checkForward`; gradients may be off by 2e-5.
 */
export function checkBackward(
  call: SampledCall,
  results: SampledBackward,
  places: readonly RowPlace[],
): void {
  const dO = rowsOf(results.dO);
  check(
    'dq',
    places,
    rowsOf(results.dq),
    places.map(place => dqRow(call, dO, place)),
    2e-5,
  );
  const columns = places.map(place => keyGradients(call, results, place));
  check(
    'dk',
    places,
    rowsOf(results.dk),
    columns.map(column => column.dk),
    2e-5,
  );
  check(
    'dv',
    places,
    rowsOf(results.dv),
    columns.map(column => column.dv),
    2e-5,
  );
}

function forwardRow(
  call: SampledCall,
  { head, row }: RowPlace,
): { o: Float64Array; lse: number; p: Float64Array } {
  const scores = scoresOf(call, { head, row });
  const max = scores.reduce((most, s) => Math.max(most, s), -Infinity);
  const sum = scores.reduce((total, s) => total + Math.exp(s - max), 0);
  const p = scores.map(s => Math.exp(s - max) / sum);
  return { o: weighted(rowsOf(call.v), head, p), lse: max + Math.log(sum), p };
}

/** dq_i = scale · Σ_j p_ij (dO_i·v_j − dO_i·o_i) k_j. */
function dqRow(call: SampledCall, dO: Rows, place: RowPlace): Float64Array {
  const { o, p } = forwardRow(call, place);
  const v = rowsOf(call.v);
  const g = dO(place);
  const delta = dot(g, o);
  const ds = p.map((pj, j) => pj * (dot(g, v({ head: place.head, row: j })) - delta));
  return weighted(rowsOf(call.k), place.head, ds).map(x => x * scaleOf(call));
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
  for (let i = call.causal ? j : 0; i < call.q.shape[2]; i++) {
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

function scoresOf(call: SampledCall, { head, row }: RowPlace): Float64Array {
  const k = rowsOf(call.k);
  const query = rowsOf(call.q)({ head, row });
  const visible = call.causal ? row + 1 : call.k.shape[2];
  return Float64Array.from({ length: visible }, (_, j) => scaleOf(call) * dot(query, k({ head, row: j })));
}

function weighted(rows: Rows, head: number, weights: Float64Array): Float64Array {
  const sum = new Float64Array(rows({ head, row: 0 }).length);
  weights.forEach((weight, row) => {
    rows({ head, row }).forEach((x, d) => {
      sum[d] += weight * x;
    });
  });
  return sum;
}

const scaleOf = ({ q }: SampledCall): number => 1 / Math.sqrt(q.shape[3]);

/** Rows of a contiguous f32 tensor (B, H, S, D). */
function rowsOf(tensor: Tensor): Rows {
  const [, , S, D] = tensor.shape;
  return ({ head, row }) => {
    const at = tensor.offset + (head * S + row) * D;
    return Float64Array.from(tensor.data.subarray(at, at + D));
  };
}

/** Values of a contiguous f32 tensor (B, H, S), as rows of one. */
function valuesOf(tensor: Tensor): Rows {
  const S = tensor.shape[2];
  return ({ head, row }) => Float64Array.of(tensor.data[tensor.offset + head * S + row]);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}

function check(
  name: string,
  places: readonly RowPlace[],
  actual: Rows,
  expected: readonly Float64Array[],
  tolerance: number,
): void {
  const largest = Math.max(
    1,
    ...expected.map(row => row.reduce((most, x) => Math.max(most, Math.abs(x)), 0)),
  );
  places.forEach((place, n) => {
    const got = actual(place);
    const error = expected[n].reduce((worst, x, d) => Math.max(worst, Math.abs(x - got[d])), 0);
    if (!(error <= tolerance * largest)) {
      const { head, row } = place;
      throw new WrongResult(
        `${name} is off by ${error.toExponential(2)} in row ${row} of head ${head}, where ${(tolerance * largest).toExponential(2)} is allowed`,
      );
    }
  });
}
