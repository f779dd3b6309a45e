import { broadcastIndex, type ElementIndex, operandIndex, rowIndex } from '../attention/host/result-index.ts';
import type { SequenceSide } from '../attention/host/sequences.ts';
import { callerShape, rowShape } from '../attention/problem/describe.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from '../attention/problem/problem.ts';
import { elementCount, type Shape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** An unrounded result: row-major values of `shape` without gaps. */
export interface Float64Tensor {
  readonly shape: Shape;
  readonly values: Float64Array;
}

/** A tensor that knows where the element of a place lies. */
export interface PlacedTensor extends Float64Tensor {
  readonly place: ElementIndex;
}

/** The tensor alone, as plain data. */
export function plain({ shape, values }: Float64Tensor): Float64Tensor {
  return { shape, values };
}

/** A tensor filled with one value. */
export function filled(shape: Shape, value: number): Float64Tensor {
  return { shape, values: new Float64Array(elementCount(shape)).fill(value) };
}

/** Raises a largest magnitude to that of x. */
export function raise({ values }: Float64Tensor, x: number): void {
  values[0] = Math.max(values[0], Math.abs(x));
}

/** Zeros in the caller's shape of an operand; `place` as `operandIndex`. */
export function likeOperand(desc: OperandDesc, side: SequenceSide, raggedOffsets?: Tensor): PlacedTensor {
  return { ...filled(callerShape(desc), 0), place: operandIndex(desc, side, raggedOffsets) };
}

/** One number per query row; `place` as `rowIndex`. */
export function perRow(problem: AttentionProblem, side: SequenceSide, value: number): PlacedTensor {
  return { ...filled(rowShape(problem), value), place: rowIndex(problem, side) };
}

/**
 * Zeros in the own shape of a broadcast tensor; `place` is the element that (b, h, i, j) shares with others.
 */
export function likeBroadcast(desc: BroadcastDesc): PlacedTensor {
  return { ...filled(desc.source, 0), place: broadcastIndex(desc) };
}
