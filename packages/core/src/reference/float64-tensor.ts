import { broadcastIndex, type ElementIndex, operandIndex, rowIndex } from '../attention/host/result-index.ts';
import type { SequenceSide } from '../attention/host/sequences.ts';
import { callerShape, rowShape } from '../attention/problem/describe.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from '../attention/problem/problem.ts';
import { allocateBy } from '../tensor/allocate.ts';
import { elementCount, type Shape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** An unrounded result: row-major values of `shape` without gaps. */
export interface Float64Tensor {
  /** The extent of each dimension. */
  readonly shape: Shape;
  /** All elements, row-major. */
  readonly values: Float64Array;
}

/** A tensor with a function that maps the indices of a problem to an index in `values`. */
export interface IndexedTensor extends Float64Tensor {
  readonly indexOf: ElementIndex;
}

/** The tensor without the function, as plain data. */
export function plain({ shape, values }: Float64Tensor): Float64Tensor {
  return { shape, values };
}

/** Zeros. @throws TilewiseError with code `OUT_OF_MEMORY`. */
export function zeros(count: number): Float64Array {
  return allocateBy(n => new Float64Array(n), count);
}

/** A tensor filled with one value. @throws as `zeros`. */
export function filled(shape: Shape, value: number): Float64Tensor {
  return { shape, values: zeros(elementCount(shape)).fill(value) };
}

/** Raises the largest magnitude to |x| if that is larger. */
export function raiseAmax({ values }: Float64Tensor, x: number): void {
  values[0] = Math.max(values[0], Math.abs(x));
}

/** Zeros in the caller's shape of an operand; `indexOf` is `operandIndex`. */
export function likeOperand(desc: OperandDesc, side: SequenceSide, raggedOffsets?: Tensor): IndexedTensor {
  return { ...filled(callerShape(desc), 0), indexOf: operandIndex(desc, side, raggedOffsets) };
}

/** A tensor with one number per query row; `indexOf` is `rowIndex`. */
export function perRow(problem: AttentionProblem, side: SequenceSide, value: number): IndexedTensor {
  return { ...filled(rowShape(problem), value), indexOf: rowIndex(problem, side) };
}

/**
 * Zeros in a broadcast tensor's own shape; `indexOf` gives the index of the element that is broadcast to (b,
 * h, i, j).
 */
export function likeBroadcast(desc: BroadcastDesc): IndexedTensor {
  return { ...filled(desc.source, 0), indexOf: broadcastIndex(desc) };
}
