import type { DType, Expr, Shape, Strides, Tensor, TensorDesc } from '@tilewise/core';
import type { RandomPrimitive, ReducePrimitive, SoftmaxPrimitive } from '@tilewise/core/primitive';
import type { AttentionCallStep } from './attention-call.ts';

/** A tensor of a program under construction. */
export interface Value {
  readonly index: number;
  readonly desc: TensorDesc;
}

/** A reduction; the domain is the shape that the inputs broadcast to. */
export type Reduction = Omit<ReducePrimitive, 'kind'>;

/** Writes an operation as steps: its tensors as values, and the primitives. */
export interface Lowering {
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  map(value: Expr, inputs: readonly Value[], output: Value): void;
  reduce(reduction: Reduction, inputs: readonly Value[], output: Value): void;
  matmul(a: Value, b: Value, output: Value): void;
  softmax(softmax: Omit<SoftmaxPrimitive, 'kind'>, input: Value, outputs: readonly Value[]): void;
  random(distribution: RandomPrimitive['distribution'], inputs: readonly Value[], output: Value): void;
  scatterAdd(indices: Value, updates: Value, output: Value): void;
  tensorScatter(axis: number, update: Value, first: Value, output: Value): void;
  attentionCall(call: AttentionCallStep): void;
  temporary(shape: Shape, dtype?: DType): Value;
  constant(data: Tensor): Value;
  view(of: Value, shape: Shape, strides: Strides): Value;
}
