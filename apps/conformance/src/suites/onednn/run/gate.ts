import type { GraphNode } from '@tilewise/graph';

/** The distance from 1 to the next number of a dtype. */
export const epsilons: Readonly<Record<string, number>> = {
  f32: 2 ** -23,
  f16: 2 ** -10,
  bf16: 2 ** -7,
  f8e4m3: 2 ** -3,
  f8e5m2: 2 ** -2,
};

/** Operations whose results may have the error that benchdnn allows for an elementwise function. */
const eltwise = new Set([
  'Exp',
  'Dropout',
  'Tanh',
  'Log',
  'Sigmoid',
  'GELU',
  'Mish',
  'HardSwish',
  'Elu',
  'Sqrt',
  'SoftPlus',
  'Reciprocal',
]);

/** Operations whose results are probabilities. */
const probabilities = new Set(['SoftMax', 'Exp']);

/** Operations whose results are products in attention; ReduceSum sums the products of a group of heads. */
const products = new Set(['MatMul', 'ReduceSum']);

/** The allowed error of each element of a tensor. */
export interface Gate {
  /** Relative error; absolute for numbers below 1e-5. */
  readonly threshold: number;
  readonly eltwise: boolean;
  /** Integers and 8-bit floats may be adjacent values. */
  readonly offByOne: boolean;
  readonly epsilon: number;
  /** An absolute error that is also allowed. */
  readonly absolute: number;
  /**
   * The error relative to the largest number of the tensor, if that is above `exactTo`; added to `absolute`.
   */
  readonly ofLargest: number;
  readonly exactTo: number;
}

/**
 * A product of probabilities that are not stored inherits their error, for which benchdnn allows 10 ε of f32:
 * with p̃ = p·(1 + δ), |δ| ≤ 10 ε, the sum Σ p̃ v is off by at most 10 ε Σ p |v|. Σ p |v| can be as large as
 * the tensor's largest number even if the sum itself is small. (benchdnn's own kernels divide by the sum of
 * the row before the product, and then it allows no such error.)
 */
const PROBABILITY_ERROR = 10 * 2 ** -23;

/**
 * A product of integers is exact in f32 as long as no partial sum exceeds 2^24. Beyond that, each of its K
 * additions rounds: with terms of either sign and of size t, partial sums grow as t √k, and their roundings
 * add up to about 2^-24 t √(Σ k) / √3 = 2^-24 t K / √6. The largest of many such sums is about 3.5 t √K, so
 * the error relative to it is 2^-24 √K / 8.6, however small the element itself is: at most 10 ε for the K ≤
 * 16384 of these graphs, with a margin of 1.3, the same figure as for probabilities.
 */
const EXACT_TO = 2 ** 24;

/**
 * The gradient of LogSoftmax is r = dy − e^y Σ dy. Inputs are filled with multiples of a half of at most 8
 * (`fill.ts`), so Σ dy is exact. e^y is off by at most 3 + 2|y| ≤ 19 ulp (the accuracy that WGSL requires of
 * `exp`; engines on the host are more accurate), and the product and the difference add one: |error| ≤ 20 ε
 * |e^y Σ dy| ≤ 20 ε (|r| + 8). If |r| ≥ 8, that is within 40 ε |r|, benchdnn's relative figure for a backward
 * softmax in f32; otherwise it is within 8 · 40 ε. Rounded to 16 bits, numbers with so small a difference may
 * be adjacent values, like those of Exp.
 */
const CANCELLED = 8 * 40 * 2 ** -23;

// A LogSoftmax is r = (x − m) − ln l. The relative rounding of l to f32 is an absolute error of ln l, about
// ε/2 of f32, however small r is. In f32, `absolute` allows for it. Rounded to 16 bits, a number so close to
// the middle between two values may be either of the two, which differ by at most ε of the dtype (benchdnn
// allows 5 ε).

/** The gate of a tensor by benchdnn's rules for its dtype and for the operation that produces it. */
export function gateOf(
  producer: GraphNode | undefined,
  output: number,
  dtype: string,
  nodes: readonly GraphNode[],
): Gate {
  const fromProbabilities = producer !== undefined && follows(producer, probabilities, nodes);
  const fromSoftmax = producer !== undefined && follows(producer, new Set(['SoftMax']), nodes);
  const epsilon = epsilons[dtype] ?? 0;
  const isF32 = dtype === 'f32';
  const thresholds: Readonly<Record<string, number>> = {
    MatMul: 0,
    SoftMax: output === 1 ? 4e-5 : isF32 ? 10 * epsilon : 0,
    LogSoftmax: isF32 ? 4e-5 : epsilon,
    Exp: isF32 ? 4e-6 : epsilon,
    SoftMaxBackward: isF32 ? 40 * epsilon : 0,
    LogSoftmaxBackward: isF32 ? 40 * epsilon : epsilon,
  };
  const kind = producer?.kind ?? '';
  const absolute: Readonly<Record<string, number>> = {
    SoftMax: epsilons.f32,
    SoftMaxBackward: epsilons.f32,
    LogSoftmax: epsilons.f32,
    LogSoftmaxBackward: CANCELLED,
    Divide: epsilon,
  };
  return {
    // A result of probabilities that are not stored has their relative error: 10 ε, like a SoftMax in f32
    // itself.
    threshold: thresholds[kind] ?? (isF32 && fromSoftmax ? 10 * epsilon : epsilon),
    eltwise: nodes.some(node => eltwise.has(node.kind)),
    offByOne: ['i8', 'u8', 'i32', 'f8e4m3', 'f8e5m2'].includes(dtype),
    epsilon,
    ofLargest: products.has(kind) ? PROBABILITY_ERROR : 0,
    exactTo: fromProbabilities ? 0 : EXACT_TO,
    absolute: absolute[kind] ?? 0,
  };
}

/** Whether an operation reads the result of one of these kinds, directly or through other operations. */
function follows(producer: GraphNode, kinds: ReadonlySet<string>, nodes: readonly GraphNode[]): boolean {
  const reached = new Set([producer]);
  for (const { inputs } of reached) {
    const sources = nodes.filter(node => node.outputs.some(output => inputs.some(t => t.id === output.id)));
    if (sources.some(node => kinds.has(node.kind))) return true;
    for (const node of sources) reached.add(node);
  }
  return false;
}
