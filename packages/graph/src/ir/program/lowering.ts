import type { DType, Expr, Shape, Strides, Tensor, TensorDesc } from '@tilewise/core';
import type { NumericExpr } from '@tilewise/core/expr';
import type { RandomPrimitive, ReducePrimitive, SoftmaxPrimitive } from '@tilewise/core/primitive';
import type { AttentionStep } from './attention-step.ts';

/** A tensor of a program under construction. */
export interface Value {
  readonly index: number;
  readonly desc: TensorDesc;
}

/** A reduction; the domain is the shape that the inputs broadcast to. */
export type Reduction = Omit<ReducePrimitive, 'kind'>;

/** A reduction of an expression over axes of a domain to a new value. Default: a sum in f32. */
export interface NewReduction
  extends Pick<Reduction, 'axes' | 'domain'>,
    Partial<Pick<Reduction, 'op' | 'result'>> {
  readonly element: NumericExpr;
  readonly dtype?: DType;
}

/** Writes steps of a program, and the values between them. */
export interface StepWriter {
  map(value: Expr, inputs: readonly Value[], output: Value): void;
  reduce(reduction: Reduction, inputs: readonly Value[], output: Value): void;
  matmul(a: Value, b: Value, output: Value): void;
  softmax(softmax: Omit<SoftmaxPrimitive, 'kind'>, input: Value, outputs: readonly Value[]): void;
  random(distribution: RandomPrimitive['distribution'], inputs: readonly Value[], output: Value): void;
  scatterAdd(indices: Value, updates: Value, output: Value): void;
  tensorScatter(axis: number, update: Value, first: Value, output: Value): void;
  attention(step: AttentionStep): void;
  temporary(shape: Shape, dtype?: DType): Value;
  constant(data: Tensor): Value;
  view(of: Value, shape: Shape, strides: Strides): Value;
  /** A view of a value with its dimensions in another order. */
  permuted(value: Value, order: readonly number[]): Value;
  /** A view of a value with its last two dimensions swapped. */
  transposed(value: Value): Value;
  /**
   * A value in another shape with the same row-major order: a view if possible, else a copy.
   * @throws InvalidShapeError for a shape with a different number of elements.
   */
  reshaped(value: Value, shape: Shape): Value;
  /** The value itself when it is contiguous, else a contiguous copy. */
  contiguous(value: Value): Value;
  /** Copies a value to another value of the same shape, converting to that value's dtype. */
  copy(from: Value, to: Value): void;
  /** Reduces an expression of inputs to a new value, with extents of 1 along the axes. */
  reduced(inputs: readonly Value[], reduction: NewReduction): Value;
}

/** Writes an operation as steps: its tensors as values, and the primitives. */
export interface Lowering extends StepWriter {
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
}
