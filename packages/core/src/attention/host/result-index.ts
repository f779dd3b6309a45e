import { contiguousStrides } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { contiguousDesc } from '../problem/describe.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from '../problem/problem.ts';
import { type SequenceSide, sequenceStart } from './sequences.ts';

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

/**
 * Index of the element that (b, h, i, j) shares with others in a contiguous tensor of the own shape of a
 * broadcast one.
 */
export function broadcastIndex({ source }: BroadcastDesc): ElementIndex {
  const own = contiguousStrides(source);
  const [sb, sh, si, sj] = [0, 1, 2, 3].map(d => {
    const at = d - 4 + source.length;
    return at >= 0 && source[at] > 1 ? own[at] : 0;
  });
  return (b, h, i, j) => b * sb + h * sh + i * si + j * sj;
}
