import type { Expr } from '@tilewise/core';
import type { Lowering } from '../program/lowering.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import type { LogicalShape, LogicalTensor } from '../tensor/logical-tensor.ts';
import type { AttributeSchema, Attributes } from './attribute.ts';
import type { PortSchema } from './ports.ts';

/** An operation's tensors and attributes, defaults filled in. */
export interface OperationCall<A = Attributes> {
  readonly attributes: A;
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
}

/** Writes a gradient. Results are tensors of the backward graph. */
export interface GradientBuilder {
  /** A new operation with one output; the output has the dtype of the first input unless stated otherwise. */
  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes?: Attributes,
    options?: { readonly dtype?: GraphDType },
  ): LogicalTensor;
  /** A new operation with one output for each dtype. */
  ops(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes: Attributes,
    dtypes: readonly GraphDType[],
  ): readonly LogicalTensor[];
  /** A forward tensor in the backward graph: an input of that graph, or recomputed. */
  forward(tensor: LogicalTensor): LogicalTensor;
  /** Whether a forward tensor is an input of the backward graph. */
  isGiven(tensor: LogicalTensor): boolean;
  /** The extents of a forward tensor. */
  shapeOf(tensor: LogicalTensor): readonly number[];
  /**
   * A gradient of shape `from`, summed over the dimensions along which its tensor of shape `to` was
   * broadcast.
   */
  reduceTo(gradient: LogicalTensor, from: readonly number[], to: readonly number[]): LogicalTensor;
  /** A tensor in another dtype. */
  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
  /** The elements of a tensor in row-major order under another shape. */
  reshape(tensor: LogicalTensor, shape: readonly number[]): LogicalTensor;
  /** One number as all elements of a shape. */
  constant(value: number, dtype: GraphDType, shape?: readonly number[]): LogicalTensor;
}

/** An operation whose gradients are asked for. */
export interface GradientCall<A = Attributes> extends OperationCall<A> {
  readonly builder: GradientBuilder;
  /** The gradients by the outputs, as tensors of the backward graph; undefined for an output without one. */
  readonly outputGradients: readonly (LogicalTensor | undefined)[];
  /** The gradient by the only output; of several outputs, the first gradient that there is. */
  readonly dy: LogicalTensor;
  /** Whether the gradient by each input is asked for. */
  readonly needed: readonly boolean[];
  /**
   * For probabilities P that are read by one product o = P·V alone: f32 Σ P∘dP along the last axis, computed
   * as rowsum(o∘dO). Null where forward does not give o, or P has gradients that do not come from o.
   */
  rowSum(): LogicalTensor | null;
}

/**
 * An operation as a call of a function that every export to Python has, in `operations.py`: of the first
 * input and of others that broadcast to it. The result has the shape of the first input.
 */
export interface PythonCall {
  readonly name: string;
  /** Axes of the first input that no rank may have a part of. */
  readonly whole: readonly number[];
  readonly options: Readonly<Record<string, number | boolean>>;
}

/** Writes the gradient by one input. */
export type InputGradient = () => LogicalTensor;

/**
 * A row of the table of operations. The checks of a graph, shape inference, gradients, engines and the
 * documentation read it. `A` is the type of the attributes, defaults filled in.
 */
export interface Operation<A = Attributes> {
  readonly kind: string;
  /** The operation in one sentence. */
  readonly summary: string;
  readonly inputs: readonly PortSchema[];
  readonly outputs: readonly PortSchema[];
  readonly attributes: Readonly<Record<string, AttributeSchema>>;
  /** Inputs that may be swapped. */
  readonly commutative?: readonly [number, number];
  /** The rule beyond shapes and dtypes that a call breaks, or null. */
  readonly constraint?: (call: OperationCall<A>) => string | null;
  /**
   * The shapes of the outputs from those of the inputs, as far as they are known.
   * @throws InvalidShapeError when the inputs do not fit each other.
   */
  readonly infer: (call: OperationCall<A>) => readonly LogicalShape[];
  /** Writes the operation as primitives; absent for an operation that computes nothing. */
  readonly lower?: (lowering: Lowering, call: OperationCall<A>) => void;
  /**
   * The gradients by the inputs; null for an input without one, such as indices. `zero`: the result is
   * piecewise constant. Absent: the operation has no gradient.
   */
  readonly gradient?: 'zero' | ((call: GradientCall<A>) => readonly (InputGradient | null)[]);
  /** Why the operation has no gradient, where that is not plain. */
  readonly noGradient?: string;
  /**
   * Recomputes the first output in a backward graph from other tensors that forward gives, where that is
   * cheaper than the operation itself; null where those tensors are not given.
   */
  readonly recompute?: (call: OperationCall<A>, builder: GradientBuilder) => LogicalTensor | null;
  /**
   * The attributes with which the operation gives its first output alone, where those of several outputs are
   * others.
   */
  readonly firstOutput?: (attributes: A) => A;
  /** Whether the output may lie in the memory of the first input, which then is overwritten. */
  readonly inPlace?: boolean;
  /**
   * The operation in Python, where a call says more than what `lower` makes; null for a call that has no such
   * form. Operations without it are exported as what `lower` makes.
   */
  readonly python?: (call: OperationCall<A>) => PythonCall | null;
  /** The element of the output as an expression of elements of the inputs. Elementwise operations only. */
  readonly element?: (inputs: readonly Expr[], attributes: A) => Expr;
}
