import type { Expr } from '@tilewise/core';
import type { Lowering } from '../program/lowering.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import type { LogicalShape, LogicalTensor } from '../tensor/logical-tensor.ts';
import type { AttributeSchema, Attributes } from './attribute.ts';
import type { PortSchema } from './ports.ts';

/** An operation's tensors and attributes, with defaults filled in. */
export interface OperationCall<A = Attributes> {
  /** The attributes, with defaults filled in. */
  readonly attributes: A;
  /** The tensors that the operation reads, in the order of its schema. */
  readonly inputs: readonly LogicalTensor[];
  /** The tensors that the operation writes, in the order of its schema. */
  readonly outputs: readonly LogicalTensor[];
}

/** Writes operations of a gradient into the backward graph. All results are tensors of the backward graph. */
export interface GradientBuilder {
  /** Adds an operation with one output. By default the output has the dtype of the first input. */
  op(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes?: Attributes,
    options?: { readonly dtype?: GraphDType },
  ): LogicalTensor;
  /** Adds an operation with one output for each dtype. */
  ops(
    kind: string,
    inputs: readonly LogicalTensor[],
    attributes: Attributes,
    dtypes: readonly GraphDType[],
  ): readonly LogicalTensor[];
  /**
   * The counterpart of a forward tensor in the backward graph: an input of that graph, or a recomputed
   * tensor.
   */
  forward(tensor: LogicalTensor): LogicalTensor;
  /** Whether a forward tensor is an input of the backward graph. */
  isGiven(tensor: LogicalTensor): boolean;
  /** Whether a forward tensor is an input of the forward graph. */
  isInput(tensor: LogicalTensor): boolean;
  /** The extents of a forward tensor. */
  shapeOf(tensor: LogicalTensor): readonly number[];
  /**
   * Sums a gradient of shape `from` over the dimensions along which a tensor of shape `to` was broadcast to
   * it.
   */
  reduceTo(gradient: LogicalTensor, from: readonly number[], to: readonly number[]): LogicalTensor;
  /** A tensor in another dtype. */
  cast(tensor: LogicalTensor, dtype: GraphDType): LogicalTensor;
  /** The elements of a tensor in row-major order under another shape. */
  reshape(tensor: LogicalTensor, shape: readonly number[]): LogicalTensor;
  /** A tensor whose elements are all one number. */
  constant(value: number, dtype: GraphDType, shape?: readonly number[]): LogicalTensor;
}

/** An operation whose gradients are requested. */
export interface GradientCall<A = Attributes> extends OperationCall<A> {
  /** Adds operations to the backward graph. */
  readonly builder: GradientBuilder;
  /**
   * The gradients of the outputs, as tensors of the backward graph; undefined for an output without a
   * gradient.
   */
  readonly outputGradients: readonly (LogicalTensor | undefined)[];
  /** The gradient of the only output, or the first gradient that exists among several outputs. */
  readonly dy: LogicalTensor;
  /** For each input, whether its gradient is requested. */
  readonly needed: readonly boolean[];
  /**
   * Σ P∘dP along the last axis in f32, for probabilities P that only one product o = P·V reads, computed as
   * rowsum(o∘dO). Null if o is not a result of forward, or P has gradients that do not come from o.
   */
  rowSum(): LogicalTensor | null;
}

/**
 * A call of a function in `operations.py`, which every export to Python contains. The arguments are the first
 * input and others that broadcast to it; the result has the shape of the first input.
 */
export interface PythonCall {
  /** The name of the function. */
  readonly name: string;
  /** Axes of the first input that must not be split over ranks. */
  readonly whole: readonly number[];
  /** The keyword arguments. */
  readonly options: Readonly<Record<string, number | boolean>>;
}

/** Writes the gradient of one input. */
export type InputGradient = () => LogicalTensor;

/**
 * A row of the operation table, which graph checks, shape inference, gradients, engines and exports read. `A`
 * is the type of the attributes with defaults filled in.
 */
export interface Operation<A = Attributes> {
  /** The name, such as `MatMul`. */
  readonly kind: string;
  /** The tensors that the operation reads, in order, with their dtypes. */
  readonly inputs: readonly PortSchema[];
  /** The tensors that the operation writes, in order, with their dtypes. */
  readonly outputs: readonly PortSchema[];
  /** The attributes by name, with types and defaults. */
  readonly attributes: Readonly<Record<string, AttributeSchema>>;
  /** The indices of two inputs that may be swapped. */
  readonly commutative?: readonly [number, number];
  /** Returns a rule, other than those of shapes and dtypes, that a call breaks, or null. */
  readonly constraint?: (call: OperationCall<A>) => string | null;
  /**
   * Infers the shapes of the outputs from those of the inputs, as far as they are known.
   * @throws InvalidShapeError when the inputs do not fit each other.
   */
  readonly infer: (call: OperationCall<A>) => readonly LogicalShape[];
  /** Writes the operation as primitives. Absent for an operation that computes nothing. */
  readonly lower?: (lowering: Lowering, call: OperationCall<A>) => void;
  /**
   * The gradients of the inputs; null for an input without a gradient, such as indices. `zero` means that the
   * result is piecewise constant. If absent, the operation has no gradient.
   */
  readonly gradient?: 'zero' | ((call: GradientCall<A>) => readonly (InputGradient | null)[]);
  /** Why the operation has no gradient, if that is not obvious. */
  readonly noGradient?: string;
  /**
   * Recomputes the first output in a backward graph from other results of forward, if that is cheaper than
   * the operation itself. Null if forward does not have these results.
   */
  readonly recompute?: (call: OperationCall<A>, builder: GradientBuilder) => LogicalTensor | null;
  /**
   * The attributes with which the operation has only its first output, if they differ from those with all
   * outputs.
   */
  readonly firstOutput?: (attributes: A) => A;
  /** Whether the output may use the memory of the first input, which is then overwritten. */
  readonly inPlace?: boolean;
  /**
   * The operation as a Python call, if that is clearer than the steps that `lower` writes; null for a call
   * without such a form. Operations without `python` are exported as the steps that `lower` writes.
   */
  readonly python?: (call: OperationCall<A>) => PythonCall | null;
  /** The output element as an expression of the input elements. Only for elementwise operations. */
  readonly element?: (inputs: readonly Expr[], attributes: A) => Expr;
}
