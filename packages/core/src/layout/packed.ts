import { describeValue, InvalidArgumentError, InvalidShapeError } from '../errors.ts';
import { copyTensor } from '../tensor/copy.ts';
import { Tensor } from '../tensor/tensor.ts';
import { checkAxes, positions } from './axes.ts';
import {
  checkLengths,
  cumulativeLengths,
  type Lengths,
  lengthsFromCumulative,
} from './cumulative-lengths.ts';

/**
 * A view of sequence b of a packed (T, H, D) tensor, whose sequences start at `cuSeqLens` (B + 1), as (1, H,
 * S_b, D).
 * @throws InvalidShapeError if there are fewer tokens than the sequences need; InvalidArgumentError if there
 * is no sequence b.
 */
export function packedSequence(t: Tensor, cuSeqLens: Lengths, b: number): Tensor {
  const starts = checkPacked('t', t, cuSeqLens);
  if (!Number.isInteger(b) || b < 0 || b >= starts.length - 1) {
    throw new InvalidArgumentError('b', `must be in 0..${starts.length - 2}, got ${describeValue(b)}`);
  }
  return sequence(t, starts, b);
}

/**
 * A copy of the first `lengths[b]` positions of each sequence of a dense (B, H, S, D) tensor, packed as (T,
 * H, D).
 * @throws InvalidArgumentError unless there is one length in 0..S for each of the B sequences.
 */
export function pack(dense: Tensor, lengths: Lengths): { packed: Tensor; cuSeqLens: number[] } {
  checkAxes('dense', dense, ['B', 'H', 'S', 'D']);
  const [B, H, S, D] = dense.shape;
  const each = checkLengths('lengths', lengths, S);
  if (each.length !== B)
    throw new InvalidArgumentError('lengths', `must have ${B} entries, got ${each.length}`);
  const cuSeqLens = cumulativeLengths(each);
  const packed = Tensor.zeros([cuSeqLens[B], H, D], { dtype: dense.dtype });
  each.forEach((length, b) => {
    copyTensor(positions(dense, b, 0, length), sequence(packed, cuSeqLens, b));
  });
  return { packed, cuSeqLens };
}

/**
 * A copy of a packed (T, H, D) tensor as dense (B, H, S, D), with zeros after each sequence. S defaults to
 * the length of the longest sequence.
 * @throws InvalidShapeError if there are fewer tokens than the sequences need; InvalidArgumentError if a
 * sequence is longer than S.
 */
export function unpack(packed: Tensor, cuSeqLens: Lengths, S?: number): Tensor {
  const starts = checkPacked('packed', packed, cuSeqLens);
  const lengths = lengthsFromCumulative(starts);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  if (S !== undefined && !(Number.isInteger(S) && S >= longest)) {
    const rule = `must be at least ${longest}, the longest sequence, got ${describeValue(S)}`;
    throw new InvalidArgumentError('S', rule);
  }
  const [, H, D] = packed.shape;
  const dense = Tensor.zeros([lengths.length, H, S ?? longest, D], { dtype: packed.dtype });
  lengths.forEach((length, b) => {
    copyTensor(sequence(packed, starts, b), positions(dense, b, 0, length));
  });
  return dense;
}

function sequence(t: Tensor, starts: readonly number[], b: number): Tensor {
  const [, H, D] = t.shape;
  const tokens = t.slice(0, starts[b], starts[b + 1]);
  return tokens.permute(1, 0, 2).reshape([1, H, tokens.shape[0], D]);
}

function checkPacked(argument: string, t: Tensor, cuSeqLens: Lengths): number[] {
  checkAxes(argument, t, ['T', 'H', 'D']);
  const starts = cumulativeLengths(lengthsFromCumulative(cuSeqLens, 'cuSeqLens'));
  const needed = starts.at(-1) ?? 0;
  if (t.shape[0] < needed) {
    throw new InvalidShapeError(argument, `has ${t.shape[0]} tokens, but cuSeqLens ends at ${needed}`);
  }
  return starts;
}
