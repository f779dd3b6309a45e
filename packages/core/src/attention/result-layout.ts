import { contiguousStrides } from '../tensor/shape.ts';
import type { SequenceSide } from './lengths.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from './problem.ts';

/** Shape in which the caller sees an operand: (B, H, S, D), or (T, H, D) when packed. */
export function callerShape(desc: OperandDesc, packed: boolean): number[] {
  const [b, h, s, d] = desc.shape;
  return packed ? [s, h, d] : [b, h, s, d];
}

/** Shape of lse, max and sumExp: (B, Hq, Sq), packed (Hq, T). */
export function rowShape({ B, Hq, Sq, packed, q }: AttentionProblem): number[] {
  return packed ? [Hq, q.shape[2]] : [B, Hq, Sq];
}

/** The index of an element by its place in the problem. */
export type ElementIndex = (...place: number[]) => number;

/** Index of element d = 0 of (b, h, s) in the caller's shape of an operand: (B, H, S, D), or (T, H, D) when packed. */
export function operandIndex(
  { packed }: AttentionProblem,
  { shape }: OperandDesc,
  side: SequenceSide,
): ElementIndex {
  const [, H, S, D] = shape;
  return packed ? (b, h, s) => ((side.start(b) + s) * H + h) * D : (b, h, s) => ((b * H + h) * S + s) * D;
}

/** Index of row (b, h, i) in a tensor of shape (B, Hq, Sq), or (Hq, T) when packed. */
export function rowIndex({ Hq, Sq, packed, q }: AttentionProblem, side: SequenceSide): ElementIndex {
  const tokens = q.shape[2];
  return packed ? (b, h, i) => h * tokens + side.start(b) + i : (b, h, i) => (b * Hq + h) * Sq + i;
}

/** Index of the element that (b, h, i, j) shares with others in a contiguous tensor of the own shape of a broadcast one. */
export function broadcastIndex({ source }: BroadcastDesc): ElementIndex {
  const own = contiguousStrides(source);
  const [sb, sh, si, sj] = [0, 1, 2, 3].map(d => {
    const at = d - 4 + source.length;
    return at >= 0 && source[at] > 1 ? own[at] : 0;
  });
  return (b, h, i, j) => b * sb + h * sh + i * si + j * sj;
}
