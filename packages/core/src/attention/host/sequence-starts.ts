import type { Tensor } from '../../tensor/tensor.ts';
import type { OperandDesc, SequenceStarts } from '../problem/problem.ts';
import type { SequenceSide } from './lengths.ts';
import { required } from './required.ts';

/** Elements from an operand's first to that of sequence b. */
export type SequenceStart = (b: number) => number;

/**
 * Where the sequences of an operand start, in any layout but paged.
 * @param raggedOffsets the operand's own (B + 1) offsets; needed when it is ragged.
 * @throws InvalidArgumentError when a ragged operand has no offsets.
 */
export function sequenceStart(
  { starts, strides: [sb, , ss] }: Pick<OperandDesc, 'starts' | 'strides'>,
  side: SequenceSide,
  raggedOffsets?: Tensor,
): SequenceStart {
  const by: Readonly<Record<SequenceStarts, () => SequenceStart>> = {
    strided: () => b => b * sb,
    cumulative: () => b => side.start(b) * ss,
    ragged: () => {
      const offsets = required('raggedOffsets', raggedOffsets).toFloat64();
      return b => offsets[b];
    },
  };
  return by[starts]();
}
