import { lengthsFromCumulative } from '../../layout/cumulative-lengths.ts';
import { type HostArray, isHostArray, numbersOf } from '../../tensor/host-array.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import type { AttentionProblem, LengthsKind, OperandDesc, Operands } from '../problem/problem.ts';
import { required } from './required.ts';

/**
 * One side (queries or keys) of the batch: how long its sequences are, and where they start in its packed
 * tensors.
 */
export interface SequenceSide {
  /** Positions of sequence b that exist. */
  length(b: number): number;
  /**
   * First token of sequence b, from the cumulative lengths.
   * @throws InvalidArgumentError if there are none.
   */
  start(b: number): number;
}

/**
 * The sequence lengths of a problem, read on the host.
 * @throws InvalidArgumentError if the problem has lengths but the operand that holds them is missing.
 */
export function createLengths(
  problem: AttentionProblem,
  operands: Partial<Operands<Tensor>>,
): { readonly q: SequenceSide; readonly kv: SequenceSide } {
  return {
    q: side('Q', problem.lengthsQ, problem.Sq, operands.seqLensQ, operands.cuSeqLensQ),
    kv: side('Kv', problem.lengthsKv, problem.Skv, operands.seqLensKv, operands.cuSeqLensKv),
  };
}

function side(
  name: 'Q' | 'Kv',
  kind: LengthsKind,
  extent: number,
  seqLens: Tensor | undefined,
  cuSeqLens: Tensor | undefined,
): SequenceSide {
  const cumulative = cuSeqLens?.toFloat64();
  const starts = (): Float64Array => required(`cuSeqLens${name}`, cumulative);
  const start = (b: number): number => starts()[b];
  if (kind === 'full') return { length: () => extent, start };
  if (kind === 'cumulative') {
    const all = starts();
    return { length: b => all[b + 1] - all[b], start };
  }
  const lengths = required(`seqLens${name}`, seqLens).toFloat64();
  return { length: b => lengths[b], start };
}

/**
 * The lengths of all sequences of a side, from its list; null without a list, or if the list is not on the
 * host.
 */
export function lengthsOnHost<T extends TensorDesc>(
  side: 'Q' | 'Kv',
  problem: AttentionProblem,
  operands: Operands<T | HostArray>,
): readonly number[] | null {
  const kind = problem[`lengths${side}`];
  if (kind === 'full') return null;
  const list = kind === 'lengths' ? operands[`seqLens${side}`] : operands[`cuSeqLens${side}`];
  if (!isHostArray(list)) return null;
  return kind === 'lengths' ? numbersOf(list) : lengthsFromCumulative(list);
}

/**
 * Where the sequences of an operand start, in any layout but paged: the elements between the start of the
 * operand and the start of sequence b.
 * @param raggedOffsets the operand's own (B + 1) offsets; needed if it is ragged.
 * @throws InvalidArgumentError if a ragged operand has no offsets.
 */
export function sequenceStart(
  { starts, strides: [sb, , ss] }: Pick<OperandDesc, 'starts' | 'strides'>,
  side: SequenceSide,
  raggedOffsets?: Tensor,
): (b: number) => number {
  if (starts === 'strided') return b => b * sb;
  if (starts === 'cumulative') return b => side.start(b) * ss;
  const offsets = required('raggedOffsets', raggedOffsets).toFloat64();
  return b => offsets[b];
}
