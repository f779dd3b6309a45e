import type { Expr } from '../expr/nodes/expr.ts';

/**
 * Computes each element of the output from the elements of the inputs at the same place. The inputs are
 * broadcast to the output's shape as NumPy does; `value` reads them with `input(n)`, reads any of them at
 * another place with `inputAt(n, index)`, and knows its own place by `coordinate(d)` (see `element.ts`).
 *
 * A float that is stored in an integer dtype is rounded to the nearest (ties to even) and saturated.
 */
export interface MapPrimitive {
  readonly kind: 'map';
  readonly value: Expr;
}

/**
 * Reduces over `axes` of `domain`, the shape that the inputs are broadcast to. `element` is what is reduced,
 * an expression as in a map; `result` is what becomes of it, an expression of `reduced`. The output has the
 * shape of the domain with 1 along the reduced axes.
 */
export interface ReducePrimitive {
  readonly kind: 'reduce';
  readonly op: 'sum' | 'prod' | 'max' | 'min';
  readonly axes: readonly number[];
  readonly domain: readonly number[];
  readonly element: Expr;
  readonly result: Expr;
}

/**
 * Several reductions over the same `axes` of one domain, and maps over it, at once: a norm is two reductions
 * and a map, the update of AdamW three maps. All tensors are broadcast to the domain. The result of reduction
 * k is in the expressions after it what an input behind the inputs would be: `input(inputs.length + k)`. The
 * output of a reduction has the shape of the domain with 1 along the axes, that of a map the domain.
 */
export interface RowsPrimitive {
  readonly kind: 'rows';
  readonly domain: readonly number[];
  readonly axes: readonly number[];
  readonly reductions: readonly Pick<ReducePrimitive, 'op' | 'element' | 'result'>[];
  /** The outputs: the result of a reduction by its number, or an expression as in a map. */
  readonly outputs: readonly (number | Expr)[];
}

/**
 * C = A·B over the last two dimensions: A (…, M, K), B (…, K, N), C (…, M, N), the leading dimensions of A
 * and B broadcast to those of C. A transposed operand is a view of other strides. Products are summed in f32
 * or wider.
 *
 * With `terms`, C is a sum of as many products, each of any K: the inputs start with A₀, B₀, A₁, B₁, …
 *
 * With `result`, C is this expression at each place of the product, which is what an input behind the inputs
 * would be, `input(inputs.length)`, and of the inputs behind the matrices, which are broadcast to C.
 */
export interface MatMulPrimitive {
  readonly kind: 'matmul';
  /** The number of products. Default: 1. */
  readonly terms?: number;
  readonly result?: Expr;
}

/**
 * Softmax along `axis`, or its logarithm. Outputs: the result, and if wanted `stats` = max + ln Σ e^(x − max)
 * with 1 along the axis. A row of nothing but −∞ gives NaN with `none`; with `inf-as-zero` it gives 0, and
 * stats 0.
 */
export interface SoftmaxPrimitive {
  readonly kind: 'softmax';
  readonly axis: number;
  readonly log: boolean;
  readonly mode: 'none' | 'inf-as-zero';
}

/**
 * A number per element of the (dense, row-major) output, from Philox4x32-10 as oneDNN addresses it: by the
 * element's index. Inputs: `seed` and `offset`, each u32 (2) with the low word first, and for `bernoulli` the
 * probability `p` of a 0, f32 (). `bernoulli` gives 0 or 1; `uniform` gives an f32 in (0, 1], in steps of
 * 2^-32 from 2^-33 on, as `curand_uniform` does: 1 is reached, 0 is not.
 */
export interface RandomPrimitive {
  readonly kind: 'random';
  readonly distribution: 'bernoulli' | 'uniform';
}

/**
 * Adds rows: output (V, D) has in row v the sum of the rows of `updates` (N, D) whose `indices` (N), an
 * integer tensor, are v, in the order of the rows. Inputs: indices, updates. Indices outside the output are
 * left out.
 */
export interface ScatterAddPrimitive {
  readonly kind: 'scatter-add';
}

/**
 * Writes a part of a tensor where the tensor lies: `update`, an input of the output's dtype and of its shape
 * but for fewer elements along `axis`, from element `first[b]` along the axis on, for each b of the first
 * dimension. Inputs: update, first (B), an integer tensor. The other elements of the output stay as they are,
 * and what would lie outside is left out.
 */
export interface TensorScatterPrimitive {
  readonly kind: 'tensor-scatter';
  readonly axis: number;
}

/**
 * The plain operations that everything else is made of: as data, without a tensor in it, so that an engine
 * can prepare, print and cache what it will run.
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
