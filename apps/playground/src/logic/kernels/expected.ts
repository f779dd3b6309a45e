import { sdpaBackwardFloat64, sdpaFloat64 } from '@tilewise/core/reference';
import type { ArrayName } from './puzzles/arrays.ts';
import { asTensor, type KernelInput } from './puzzles/inputs.ts';
import type { Puzzle } from './puzzles/puzzles.ts';

/** The right values of an output, and the allowed error of each element. */
export interface Expected {
  readonly values: Float64Array;
  /** Largest allowed error of each element. */
  readonly allowed: Float64Array;
}

/** Half the distance between adjacent f32 numbers near 1. */
const unit = 2 ** -24;

const arrayOf = (input: KernelInput, name: ArrayName): Float32Array =>
  input.arrays.get(name) ?? new Float32Array();

/** The results of a puzzle, in float64. */
export function expected(puzzle: Puzzle, input: KernelInput): ReadonlyMap<ArrayName, Expected> {
  if (puzzle.workgroup === 'row') return softmax(input);
  return puzzle.id === 'delta' ? delta(input) : attention(puzzle, input);
}

/**
 * Softmax of each row. A term e^(x − m) is off by an ulp of its exponent, which is at most 2·max|x|, and by a
 * few ulps of exp; the sum of n such terms is off by another n/2 ulps.
 */
function softmax(input: KernelInput): Map<ArrayName, Expected> {
  const { n } = input.sizes;
  const x = Float64Array.from(arrayOf(input, 'x'));
  const values = new Float64Array(x.length);
  for (let from = 0; from < x.length; from += n) {
    const row = x.subarray(from, from + n);
    const m = Math.max(...row);
    const exponentials = row.map(value => Math.exp(value - m));
    const sum = exponentials.reduce((total, e) => total + e, 0);
    values.set(
      exponentials.map(e => e / sum),
      from,
    );
  }
  const largest = x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const relative = unit * (4 * largest + n + 64);
  return new Map([['y', { values, allowed: values.map(y => relative * y + 1e-30) }]]);
}

/**
 * Σ_c dO_c · o_c of each row: each of the D additions may be off by an ulp of the partial sum's magnitude.
 */
function delta(input: KernelInput): Map<ArrayName, Expected> {
  const { n, columns } = input.sizes;
  const [dO, o] = [arrayOf(input, 'dO'), arrayOf(input, 'o')];
  const values = new Float64Array(n);
  const allowed = new Float64Array(n);
  for (let e = 0; e < n * columns; e++) {
    const i = Math.floor(e / columns);
    const product = (dO[e] ?? 0) * (o[e] ?? 0);
    values[i] = (values[i] ?? 0) + product;
    allowed[i] = (allowed[i] ?? 0) + Math.abs(product) * unit * (columns + 8);
  }
  return new Map([['delta', { values, allowed }]]);
}

/**
 * Forward and backward by the reference. A score, a sum of D products, is off by D + 2 ulps of Σ|q_c
 * k_c|·scale ≤ S. Two such errors add up in an exponent, and an absolute error of an exponent is a relative
 * error of the probability. Summing n terms adds n/2 ulps, and exp and the divisions add a few more. Results
 * are sums over keys or queries: each may be off by that relative error, times the sum of the magnitudes of
 * its terms.
 */
function attention(puzzle: Puzzle, input: KernelInput): Map<ArrayName, Expected> {
  const { sizes, scale } = input;
  const { n, columns } = sizes;
  const [q, k, v, dO] = (['q', 'k', 'v', 'dO'] as const).map(name => arrayOf(input, name)) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const tensors = { q: asTensor(q, sizes), k: asTensor(k, sizes), v: asTensor(v, sizes) };
  const options = { scale, causal: puzzle.causal };
  const forward = sdpaFloat64(tensors.q, tensors.k, tensors.v, options);
  const { o, lse } = forward;
  const gradients = sdpaBackwardFloat64({ ...tensors, o, lse, dO: asTensor(dO, sizes) }, options);

  const magnitudes = {
    o: new Float64Array(n * columns),
    dq: new Float64Array(n * columns),
    dk: new Float64Array(n * columns),
    dv: new Float64Array(n * columns),
  };
  let largestScore = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < (puzzle.causal ? i + 1 : n); j++) {
      let [score, size, dpSize, deltaSize] = [0, 0, 0, 0];
      for (let c = 0; c < columns; c++) {
        const [a, b] = [i * columns + c, j * columns + c];
        const product = (q[a] ?? 0) * (k[b] ?? 0) * scale;
        score += product;
        size += Math.abs(product);
        dpSize += Math.abs((dO[a] ?? 0) * (v[b] ?? 0));
        deltaSize += Math.abs((dO[a] ?? 0) * (o.values[a] ?? 0));
      }
      largestScore = Math.max(largestScore, size);
      const p = Math.exp(score - (lse.values[i] ?? 0));
      const ds = p * (dpSize + deltaSize);
      for (let c = 0; c < columns; c++) {
        const [a, b] = [i * columns + c, j * columns + c];
        magnitudes.o[a] = (magnitudes.o[a] ?? 0) + p * Math.abs(v[b] ?? 0);
        magnitudes.dv[b] = (magnitudes.dv[b] ?? 0) + p * Math.abs(dO[a] ?? 0);
        magnitudes.dq[a] = (magnitudes.dq[a] ?? 0) + ds * scale * Math.abs(k[b] ?? 0);
        magnitudes.dk[b] = (magnitudes.dk[b] ?? 0) + ds * scale * Math.abs(q[a] ?? 0);
      }
    }
  }
  const relative = unit * (4 * (columns + 2) * (largestScore + 1) + n + 64);
  const within = (exact: { readonly values: Float64Array } | undefined, sizes: Float64Array): Expected => ({
    values: exact?.values ?? new Float64Array(),
    allowed: sizes.map(size => relative * size + 1e-30),
  });
  return new Map<ArrayName, Expected>([
    ['o', within(o, magnitudes.o)],
    // The error of a logarithm is the relative error of its argument.
    ['lse', within(lse, new Float64Array(n).fill(1))],
    ['dq', within(gradients.dq, magnitudes.dq)],
    ['dk', within(gradients.dk, magnitudes.dk)],
    ['dv', within(gradients.dv, magnitudes.dv)],
  ]);
}
