import { UnsupportedNodeError } from '../../../errors.ts';
import { isKnown, type LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { AnyArguments } from '../arguments/arguments.ts';

type Arguments = AnyArguments<LogicalTensor>;

const forward: readonly (readonly [holds: (args: Arguments) => unknown, reason: string])[] = [
  [a => a.blockMask, 'no operation expresses a block mask'],
  [a => a.sinkToken, 'no operation expresses a softmax with a sink'],
  [a => a.pagedAttentionKTable ?? a.pagedAttentionVTable, 'no operation reads paged keys and values'],
  [a => a.raggedOffsets ?? a.cuSeqLenQ ?? a.cuSeqLenKv, 'operations need dense tensors, not packed ones'],
  [a => a.dropout?.length === 2, 'dropout by a given mask is not recognised as part of attention'],
  [a => a.rngDump, 'the dropout mask of a recognised attention is not available'],
  [a => a.scoreMax || a.scoreSumExp, 'the softmax of a recognised attention has only stats as a result'],
  [a => a.statsUseLog2, 'stats are natural logarithms'],
  [a => ![a.q, a.k, a.v].every(t => isKnown(t.shape)), 'the shapes of q, k and v must be known'],
  [({ k, v }) => k.shape?.[1] !== v.shape?.[1], 'k and v must have the same number of heads'],
  [({ k, v }) => k.dtype !== v.dtype, 'k and v must have the same dtype'],
];

const backward: typeof forward = [
  [a => a.scoreMod, 'the gradient of a score program needs its expression, which operations do not keep'],
  [a => a.dBias, 'the gradient of a bias would be summed from a tensor as large as the scores'],
];

/**
 * The reasons why arguments cannot be written as operations that form one attention partition; empty if they
 * can.
 */
function compositeLimits(args: Arguments): readonly string[] {
  const limits = args.stats ? [...forward, ...backward] : forward;
  return limits.filter(([holds]) => holds(args)).map(([, reason]) => reason);
}

/**
 * Whether a node is written as several operations: only if the caller asks for it.
 * @throws UnsupportedNodeError with the reasons if operations cannot express the node.
 */
export function isComposite(args: Arguments): boolean {
  if (args.implementation !== 'composite') return false;
  const limits = compositeLimits(args);
  if (limits.length > 0) throw new UnsupportedNodeError('composite', limits);
  return true;
}
