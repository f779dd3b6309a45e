import { contiguousStrides } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { contiguousDesc } from '../problem/describe.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from '../problem/problem.ts';
import { type SequenceSide, sequenceStart } from './sequences.ts';

/** Maps the indices of an element in the problem to its index in the tensor. */
export type ElementIndex = (...indices: number[]) => number;

/**
 * The index of element (b, h, s, 0) of an operand in a tensor of the operand's caller shape.
 * @param strides those of (b, h, s, d); default: those of a contiguous tensor.
 */
export function operandIndex(
  desc: OperandDesc,
  side: SequenceSide,
  raggedOffsets?: Tensor,
  strides: OperandDesc['strides'] = contiguousDesc(desc).strides,
): ElementIndex {
  const start = sequenceStart({ ...desc, strides }, side, raggedOffsets);
  const [, sh, ss] = strides;
  return (b, h, s) => start(b) + h * sh + s * ss;
}

/** The index of row (b, h, i) in a tensor of `rowShape`. */
export function rowIndex({ Hq, Sq, q }: AttentionProblem, side: SequenceSide): ElementIndex {
  const tokens = q.shape[2];
  return q.starts === 'cumulative'
    ? (b, h, i) => h * tokens + side.start(b) + i
    : (b, h, i) => (b * Hq + h) * Sq + i;
}

/**
 * The index of the element that is broadcast to (b, h, i, j), in a contiguous tensor of the broadcast
 * tensor's own shape.
 */
export function broadcastIndex({ source }: BroadcastDesc): ElementIndex {
  const own = contiguousStrides(source);
  const [sb, sh, si, sj] = [0, 1, 2, 3].map(d => {
    const at = d - 4 + source.length;
    return at >= 0 && source[at] > 1 ? own[at] : 0;
  });
  return (b, h, i, j) => b * sb + h * sh + i * si + j * sj;
}
