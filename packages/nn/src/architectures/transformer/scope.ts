import { Tensor } from '@tilewise/core';
import type { GraphDType } from '@tilewise/graph';
import {
  add,
  dropout,
  equal,
  gather,
  gatherElements,
  matmul,
  multiply,
  type Operand,
  reshape,
  typeCast,
  type Variable,
} from '@tilewise/graph/ops';

/** The initial value of a weight: one number, or random numbers. */
export type InitialValue = 0 | 1 | 'random';

/** The dtypes in which products can be computed instead of f32. */
export type AutocastDType = 'f16' | 'bf16';

/** Gives a model its weights while its graph is built. */
export interface Scope {
  /** A weight by its published name; `initial` is its value in a new model, `'random'` by default. */
  parameter(name: string, shape: readonly number[], initial?: InitialValue): Variable;
  /** The adapter of a linear layer, by the name of the layer, if there is one. */
  adapter(layer: string, shape: LinearShape): Adapter | null;
  /** The dtype of the operands of products and attention: see `LoadOptions`. */
  readonly autocast?: AutocastDType | undefined;
  /** The seed and offset for the next dropout in training; without it, nothing is dropped. */
  readonly draw?: (() => DropoutDraw | null) | undefined;
  /** Receives the softmax (B, H, Sq, Skv) of each attention. */
  readonly observe?: ((probabilities: Variable) => void) | undefined;
  /** Calls the function that builds a block; a backward pass may recompute the block's intermediates. */
  readonly block?: ((write: () => Variable) => Variable) | undefined;
}

/** The seed and offset that a dropout mask is drawn from, i64 (). */
export interface DropoutDraw {
  readonly seed: Variable;
  readonly offset: Variable;
}

/**
 * A linear layer, and how its weight is stored: (in, out) rather than PyTorch's (out, in) when transposed.
 */
export interface LinearShape {
  readonly inputs: number;
  readonly outputs: number;
  readonly transposed: boolean;
}

/** A low-rank adapter: y = x·Wᵀ + scale·(x·Aᵀ)·Bᵀ (Hu et al. 2021, LoRA). */
export interface Adapter {
  /** (r, inputs) */
  readonly a: Variable;
  /** (outputs, r) */
  readonly b: Variable;
  readonly scale: number;
  /** The probability that an element of x is dropped before the product with A, in training. */
  readonly dropout: number;
}

/** How a linear layer is stored. */
export interface LinearOptions {
  readonly bias?: boolean | undefined;
  /** The weight is (in, out) rather than PyTorch's (out, in). */
  readonly transposed?: boolean | undefined;
}

/** A weight as f32. */
export function weight(
  scope: Scope,
  name: string,
  shape: readonly number[],
  initial: InitialValue = 'random',
): Variable {
  return inFloat32(scope.parameter(name, shape, initial));
}

/** A variable as f32. */
export function inFloat32(x: Variable): Variable {
  return inDType(x, 'f32');
}

/** A variable in a dtype. No cast goes from one 16-bit dtype to the other directly. */
export function inDType(x: Variable, dtype: GraphDType): Variable {
  return x.dtype === dtype ? x : typeCast(dtype === 'f32' ? x : inFloat32(x), { dtype });
}

/** Integers as a tensor of the host; a list of them unless a shape is given. */
export function integers(values: readonly number[], shape: readonly number[] = [values.length]): Tensor {
  return Tensor.from(values, shape, { dtype: 'i32' });
}

/**
 * Rows of a table by their indices.
 * @param padding the index of a row that gets no gradient when it is looked up; none if negative.
 */
export function embedding(
  scope: Scope,
  name: string,
  shape: readonly [rows: number, columns: number],
  indices: Operand,
  padding = -1,
): Variable {
  const rows = inFloat32(gather(scope.parameter(name, shape, 'random'), indices));
  const [count, dim] = shape;
  if (!scope.draw || padding < 0 || padding >= count) return rows;
  const places = reshape(indices, [1, ...rows.shape.slice(0, -1), 1]);
  const isPadding = equal(places, integers(new Array<number>(dim).fill(padding)));
  // The index 1 is outside an axis of one element: it reads that element, and passes no gradient to it.
  const outside = typeCast(isPadding, { dtype: 'i32' });
  return reshape(gatherElements(reshape(rows, [1, ...rows.shape]), outside), rows.shape);
}

/** A variable in the dtype of the operands of products. */
export function asOperand(scope: Scope, x: Variable): Variable {
  return inDType(x, scope.autocast ?? 'f32');
}

/** x·w or x·wᵀ as f32, with operands in the dtype of `asOperand`. */
export function product(scope: Scope, x: Variable, w: Variable, transposeB = true): Variable {
  return matmul(asOperand(scope, x), asOperand(scope, w), { transposeB, dtype: 'f32' });
}

/** x·Wᵀ + b with `layer.weight` and `layer.bias`, plus the adapter's term. */
export function linear(
  scope: Scope,
  x: Variable,
  layer: string,
  outputs: number,
  { bias = false, transposed = false }: LinearOptions = {},
): Variable {
  const inputs = x.shape[x.shape.length - 1];
  const w = scope.parameter(`${layer}.weight`, transposed ? [inputs, outputs] : [outputs, inputs]);
  const y = product(scope, x, w, !transposed);
  const sum = bias ? add(y, weight(scope, `${layer}.bias`, [outputs], 0)) : y;
  const adapter = scope.adapter(layer, { inputs, outputs, transposed });
  return adapter ? withAdapter(scope, sum, x, adapter) : sum;
}

/** y + scale·(x·Aᵀ)·Bᵀ in the dtype of y; in training, elements of x are dropped before A. */
export function withAdapter(scope: Scope, y: Variable, x: Variable, adapter: Adapter): Variable {
  const { a, b, scale, dropout: p } = adapter;
  const draw = p > 0 ? scope.draw?.() : null;
  const kept = draw ? dropout(x, draw.seed, draw.offset, { p }) : x;
  const times = (of: Variable, matrix: Variable): Variable => {
    const [row, column] = [of, matrix].map(t => inDType(t, scope.autocast ?? y.dtype));
    return matmul(row, column, { transposeB: true, dtype: y.dtype });
  };
  return add(y, multiply(times(times(kept, a), b), scale));
}

/** A block applied to x; a backward pass may recompute its intermediates. */
export function scopedBlock(scope: Scope, block: (x: Variable) => Variable, x: Variable): Variable {
  return scope.block ? scope.block(() => block(x)) : block(x);
}
