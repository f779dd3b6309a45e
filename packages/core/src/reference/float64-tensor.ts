import type { SequenceSide } from '../attention/lengths.ts';
import { callerShape } from '../attention/normalise.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from '../attention/problem.ts';
import { rowShape } from '../attention/row-shape.ts';
import { contiguousStrides, elementCount, type Shape } from '../tensor/shape.ts';

/** An unrounded result: row-major values of `shape` without gaps. */
export interface Float64Tensor {
  readonly shape: Shape;
  readonly values: Float64Array;
}

/** The index of an element by its place in the problem. */
export type Place = (...place: number[]) => number;

/** A tensor that knows where the element of a place lies. */
export interface PlacedTensor extends Float64Tensor {
  readonly place: Place;
}

/** The tensor alone, as plain data. */
export function plain({ shape, values }: Float64Tensor): Float64Tensor {
  return { shape, values };
}

/** A tensor filled with one value. */
export function filled(shape: Shape, value: number): Float64Tensor {
  return { shape, values: new Float64Array(elementCount(shape)).fill(value) };
}

/** Index of element d = 0 of (b, h, s) in the caller's shape of an operand: (B, H, S, D), or (T, H, D) when packed. */
export function operandPlace(
  { packed }: AttentionProblem,
  { shape }: OperandDesc,
  side: SequenceSide,
): Place {
  const [, H, S, D] = shape;
  return packed ? (b, h, s) => ((side.start(b) + s) * H + h) * D : (b, h, s) => ((b * H + h) * S + s) * D;
}

/** Zeros in the caller's shape of an operand; `place` as `operandPlace`. */
export function likeOperand(problem: AttentionProblem, desc: OperandDesc, side: SequenceSide): PlacedTensor {
  return { ...filled(callerShape(desc, problem.packed), 0), place: operandPlace(problem, desc, side) };
}

/** Index of row (b, h, i) in a tensor of shape (B, Hq, Sq), or (Hq, T) when packed. */
export function rowPlace({ Hq, Sq, packed, q }: AttentionProblem, side: SequenceSide): Place {
  const tokens = q.shape[2];
  return packed ? (b, h, i) => h * tokens + side.start(b) + i : (b, h, i) => (b * Hq + h) * Sq + i;
}

/** One number per query row; `place` as `rowPlace`. */
export function perRow(problem: AttentionProblem, side: SequenceSide, value: number): PlacedTensor {
  return { ...filled(rowShape(problem), value), place: rowPlace(problem, side) };
}

/** Zeros in the own shape of a broadcast tensor; `place` is the element that (b, h, i, j) shares with others. */
export function likeBroadcast({ source }: BroadcastDesc): PlacedTensor {
  const own = contiguousStrides(source);
  const [sb, sh, si, sj] = [0, 1, 2, 3].map(d => {
    const at = d - 4 + source.length;
    return at >= 0 && source[at] > 1 ? own[at] : 0;
  });
  return { ...filled(source, 0), place: (b, h, i, j) => b * sb + h * sh + i * si + j * sj };
}
