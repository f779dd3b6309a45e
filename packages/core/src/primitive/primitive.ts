import type { Expr } from '../expr/nodes/expr.ts';

/**
 * Computes each element of the output from the elements of the inputs at the same index. The inputs are
 * broadcast to the output's shape as in NumPy. `value` reads them with `input(n)`, reads any of them at
 * another index with `inputAt(n, index)`, and reads its own index with `coordinate(d)`.
 *
 * A float that is stored in an integer dtype is rounded to nearest (ties to even) and saturated. A device may
 * saturate to the f32 next to the limit of i32 or u32, and store anything for NaN.
 */
export interface MapPrimitive {
  readonly kind: 'map';
  /** An element of the output. */
  readonly value: Expr;
}

/**
 * Reduces an expression of the inputs. The output has the shape of the domain with 1 along the reduced axes.
 */
export interface ReducePrimitive {
  readonly kind: 'reduce';
  /** How elements are combined. */
  readonly op: 'sum' | 'prod' | 'max' | 'min';
  /** The dimensions of `domain` that are reduced. */
  readonly axes: readonly number[];
  /** The shape to which the inputs are broadcast. */
  readonly domain: readonly number[];
  /** The value that is reduced, as in a map. */
  readonly element: Expr;
  /** The stored value, an expression of `reduced`. */
  readonly result: Expr;
}

/**
 * Several reductions over the same `axes` of one domain, and maps over it, at once: a norm is two reductions
 * and a map, AdamW's update is three maps. All tensors are broadcast to the domain. Later expressions read
 * the result of reduction k like an additional input: `input(inputs.length + k)`. The output of a reduction
 * has the shape of the domain with 1 along the axes, that of a map the shape of the domain.
 */
export interface RowsPrimitive {
  readonly kind: 'rows';
  /** The shape to which all tensors are broadcast. */
  readonly domain: readonly number[];
  /** The dimensions of `domain` that all reductions reduce. */
  readonly axes: readonly number[];
  /** The reductions, each of which may read the results of those before it. */
  readonly reductions: readonly Pick<ReducePrimitive, 'op' | 'element' | 'result'>[];
  /** The outputs: the index of a reduction for its result, or an expression as in a map. */
  readonly outputs: readonly (number | Expr)[];
}

/**
 * C = A·B over the last two dimensions: A (…, M, K), B (…, K, N), C (…, M, N), with the leading dimensions of
 * A and B broadcast to those of C. A transposed operand is a view with other strides. Products are summed in
 * f32 or wider.
 *
 * With `terms`, C is a sum of that many products, each with its own K: the inputs start with A₀, B₀, A₁, B₁,
 * …
 *
 * With `result`, each element of C is this expression. The expression reads the product like an additional
 * input, `input(inputs.length)`, and may read the inputs after the matrices, which are broadcast to C.
 */
export interface MatMulPrimitive {
  readonly kind: 'matmul';
  /** The number of products. Default: 1. */
  readonly terms?: number;
  /** The stored value. Default: the product. */
  readonly result?: Expr;
}

/**
 * Softmax along `axis`, or its logarithm. Outputs: the result and, if wanted, `stats` = max + ln Σ e^(x −
 * max) with 1 along the axis.
 */
export interface SoftmaxPrimitive {
  readonly kind: 'softmax';
  /** The dimension along which the probabilities sum to 1. */
  readonly axis: number;
  /** Whether the result is the logarithm of the softmax. */
  readonly log: boolean;
  /** The result of a row that is −∞ throughout: NaN with `none`; 0, and stats 0, with `inf-as-zero`. */
  readonly mode: 'none' | 'inf-as-zero';
}

/**
 * A random number per element of the (dense, row-major) output, from Philox4x32-10 with oneDNN's addressing:
 * by the element's index. Inputs: `seed` and `offset`, each u32 (2) with the low word first, and for
 * `bernoulli` the probability `p` of a 0, f32 (). `bernoulli` gives 0 or 1; `uniform` gives an f32 in (0, 1],
 * in steps of 2^-32 from 2^-33 on, like `curand_uniform`: 1 is possible, 0 is not.
 */
export interface RandomPrimitive {
  readonly kind: 'random';
  /** `bernoulli` gives 0 or 1, `uniform` numbers in (0, 1]. */
  readonly distribution: 'bernoulli' | 'uniform';
}

/**
 * Adds rows: row v of output (V, D) is the sum of the rows of `updates` (N, D) whose `indices` (N), an
 * integer tensor, are v, in row order. Inputs: indices, updates. Indices outside the output are ignored.
 */
export interface ScatterAddPrimitive {
  readonly kind: 'scatter-add';
}

/**
 * Writes a part of a tensor in place. `update` is an input with the output's dtype, and its shape except for
 * fewer elements along `axis`. For each b of the first dimension, it is written from element `first[b]` along
 * the axis on. Inputs: update, first (B), an integer tensor. The other elements of the output do not change,
 * and elements outside the output are ignored.
 */
export interface TensorScatterPrimitive {
  readonly kind: 'tensor-scatter';
  /** The dimension along which `first` counts. */
  readonly axis: number;
}

/**
 * The primitives that everything else is built from, as data without tensors, so that an engine can
 * prepare, print and cache what it will run.
 */
export type Primitive =
  | MapPrimitive
  | ReducePrimitive
  | RowsPrimitive
  | MatMulPrimitive
  | SoftmaxPrimitive
  | RandomPrimitive
  | ScatterAddPrimitive
  | TensorScatterPrimitive;
