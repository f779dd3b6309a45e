import type { Expr } from '@tilewise/core';
import type { Lowering } from '../program/lowering.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import type { LogicalShape, LogicalTensor } from '../tensor/logical-tensor.ts';
import type { AttributeSchema, Attributes, OperationCall } from './attribute.ts';

/** An input or output of an operation. */
export interface PortSchema {
  readonly name: string;
  /** Ports of the same letter have the same dtype: that of the first of them. */
  readonly type: string;
  readonly among: readonly GraphDType[];
  readonly optional?: boolean;
  /** Any number of tensors from here on. */
  readonly variadic?: boolean;
}

/** What a gradient is written with: tensors of the backward graph. */
export interface GradientBuilder {
  /** A new operation with one output; its dtype is that of its first input unless said otherwise. */
  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes?: Attributes,
    options?: { readonly dtype?: GraphDType },
  ): LogicalTensor;
  /** A new operation with an output of each of some dtypes. */
  ops(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes: Attributes,
    dtypes: readonly GraphDType[],
  ): readonly LogicalTensor[];
  /** A tensor of the forward graph as the backward graph has it: given, or computed again. */
  forward(tensor: LogicalTensor): LogicalTensor;
  /** Whether the backward graph gets a forward tensor as an input. */
  isGiven(tensor: LogicalTensor): boolean;
  /** The extents of a forward tensor. */
  shapeOf(tensor: LogicalTensor): readonly number[];
  /** A gradient summed over what its tensor was broadcast to; both shapes are known. */
  reduceTo(gradient: LogicalTensor, from: readonly number[], to: readonly number[]): LogicalTensor;
  /** A tensor in another dtype. */
  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
}

/** An operation whose gradient is asked for. */
export interface GradientCall extends OperationCall {
  readonly builder: GradientBuilder;
  /** The gradients by the outputs, as tensors of the backward graph; undefined where there is none. */
  readonly outputGradients: readonly (LogicalTensor | undefined)[];
  /** Of each input, whether its gradient is asked for. */
  readonly needed: readonly boolean[];
  /**
   * Of probabilities P that only go into a product with values: f32 Σ P∘dP along the last axis, from the result o of that product as
   * rowsum(o∘dO); null where forward does not give o, or o does not know all of dP.
   */
  rowSum(): LogicalTensor | null;
}

/** Writes the gradient by an input, when it is asked for. */
export type InputGradient = () => LogicalTensor;

/**
 * Everything about an operation, in one place: its schema, how shapes follow, how it runs, and what it does in a sentence.
 * The checks of a graph, shape inference, every engine and the documentation read it here.
 */
export interface Operation {
  readonly kind: string;
  /** What it computes, in one sentence. */
  readonly summary: string;
  readonly inputs: readonly PortSchema[];
  readonly outputs: readonly PortSchema[];
  readonly attributes: Readonly<Record<string, AttributeSchema>>;
  /** Inputs that may be swapped. */
  readonly commutative?: readonly [number, number];
  /** What else must hold; says what is wrong, or gives null. */
  readonly constraint?: (call: OperationCall) => string | null;
  /**
   * Shapes of the outputs from those of the inputs, as far as they are known.
   * @throws InvalidShapeError when the inputs do not fit each other.
   */
  readonly infer: (call: OperationCall) => readonly LogicalShape[];
  /** Writes the operation as primitives; absent when it computes nothing. */
  readonly lower?: (lowering: Lowering) => void;
  /**
   * The gradients by the inputs; null by one that has none, such as indices. `zero`: the result does not change with the inputs, but
   * where it jumps. Absent: the operation has no gradient.
   */
  readonly gradient?: 'zero' | ((call: GradientCall) => readonly (InputGradient | null)[]);
  /** Why there is none, where that is not plain. */
  readonly noGradient?: string;
  /**
   * Its first output in a backward graph from what forward has given, where that is cheaper than the operation itself; null where it
   * was not given.
   */
  readonly recompute?: (call: OperationCall, builder: GradientBuilder) => LogicalTensor | null;
  /** Of an elementwise operation: an element of the output from those of the inputs. */
  readonly element?: (inputs: readonly Expr[], attributes: Attributes) => Expr;
}
