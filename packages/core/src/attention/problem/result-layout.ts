import { contiguousStrides } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { SequenceSide } from '../host/lengths.ts';
import { sequenceStart } from '../host/sequence-starts.ts';
import { describeDense, describePacked, describeRagged } from './describe.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from './problem.ts';

/** Shape in which the caller sees an operand: (B, H, S, D), or (T, H, D) when packed or ragged. */
export function callerShape({ shape: [b, h, s, d], starts }: OperandDesc): number[] {
  return starts === 'strided' ? [b, h, s, d] : [s, h, d];
}

/** The same layout without gaps between its elements. */
export function contiguousDesc(desc: OperandDesc): OperandDesc {
  const shape = callerShape(desc);
  const t = { dtype: desc.dtype, shape, strides: contiguousStrides(shape) };
  if (desc.starts === 'strided') return describeDense('operand', t);
  return desc.starts === 'ragged' ? describeRagged('operand', t) : describePacked('operand', t);
}

/** Shape of lse, max and sumExp: (Hq, T) when q is packed by its cumulative lengths, else (B, Hq, Sq). */
export function rowShape({ B, Hq, Sq, q }: AttentionProblem): number[] {
  return q.starts === 'cumulative' ? [Hq, q.shape[2]] : [B, Hq, Sq];
}

/** The index of an element by its place in the problem. */
export type ElementIndex = (...place: number[]) => number;

/** Index of element d = 0 of (b, h, s) in a contiguous tensor of the caller's shape of an operand. */
export function operandIndex(desc: OperandDesc, side: SequenceSide, raggedOffsets?: Tensor): ElementIndex {
  const contiguous = contiguousDesc(desc);
  const start = sequenceStart(contiguous, side, raggedOffsets);
  const [, sh, ss] = contiguous.strides;
  return (b, h, s) => start(b) + h * sh + s * ss;
}

/** Index of row (b, h, i) in a tensor of `rowShape`. */
export function rowIndex({ Hq, Sq, q }: AttentionProblem, side: SequenceSide): ElementIndex {
  const tokens = q.shape[2];
  return q.starts === 'cumulative'
    ? (b, h, i) => h * tokens + side.start(b) + i
    : (b, h, i) => (b * Hq + h) * Sq + i;
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
