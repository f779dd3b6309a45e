import type { Expr } from '@tilewise/core';
import type { GradientBuilder } from '../gradient/gradient-builder.ts';
import type { Lowering } from '../lowering/lowering.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import type { LogicalShape, LogicalTensor } from '../tensor/logical-tensor.ts';

/** The value of an attribute. */
export type AttributeValue = boolean | number | string | readonly number[];

/** Attributes by name. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Types of attributes, by oneDNN's names. */
export type AttributeType = 'bool' | 's64' | 's64[]' | 'f32' | 'f32[]' | 'string';

/** An attribute of an operation. */
export interface AttributeSchema {
  readonly type: AttributeType;
  /** Without a default it is left out unless given, or `required`. */
  readonly default?: AttributeValue;
  readonly required?: boolean;
  /** The only values allowed. */
  readonly among?: readonly AttributeValue[];
}

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

/** An operation's tensors and attributes, defaults filled in. */
export interface OperationCall {
  readonly attributes: Attributes;
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
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
  readonly again?: (call: OperationCall, builder: GradientBuilder) => LogicalTensor | null;
  /** Of an elementwise operation: an element of the output from those of the inputs. */
  readonly element?: (inputs: readonly Expr[], attributes: Attributes) => Expr;
}
