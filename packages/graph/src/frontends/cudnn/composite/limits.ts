import { UnsupportedNodeError } from '../../../errors.ts';
import { isKnown, type LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { AnyArguments } from '../arguments.ts';

type Arguments = AnyArguments<LogicalTensor>;

const forward: readonly (readonly [holds: (args: Arguments) => unknown, reason: string])[] = [
  [a => a.blockMask, 'a block mask is no operation'],
  [a => a.sinkToken, 'a softmax with a sink is no operation'],
  [a => a.pagedAttentionKTable ?? a.pagedAttentionVTable, 'no operation reads pages'],
  [a => a.raggedOffsets ?? a.cuSeqLenQ ?? a.cuSeqLenKv, 'operations are on dense tensors'],
  [a => a.dropout?.length === 2, 'dropout by a given mask is not recognised as such'],
  [a => a.rngDump, 'the mask of a dropout that is recognised is not there'],
  [a => a.scoreMax || a.scoreSumExp, 'a softmax that is recognised gives its stats alone'],
  [a => a.statsUseLog2, 'stats are natural logarithms'],
  [a => ![a.q, a.k, a.v].every(t => isKnown(t.shape)), 'the shapes of q, k and v must be known'],
  [
    ({ k, v }) => k.shape?.[1] !== v.shape?.[1],
    'heads of k and v that differ in number are in no product of matrices',
  ],
  [
    ({ k, v }) => k.dtype !== v.dtype,
    'the probabilities of keys of one dtype are not multiplied by values of another',
  ],
];

const backward: typeof forward = [
  [a => a.scoreMod, 'the gradient of a score program is taken of its expression'],
  [a => a.dBias, 'the gradient by a bias is the sum of one as large as the scores'],
];

/**
 * Why arguments cannot be written as operations that become one attention partition; empty when they can.
 */
function compositeLimits(args: Arguments): readonly string[] {
  const limits = args.stats ? [...forward, ...backward] : forward;
  return limits.filter(([holds]) => holds(args)).map(([, reason]) => reason);
}

/**
 * Whether a node is written as operations: only where that is asked for.
 * @throws UnsupportedNodeError with the reasons where operations cannot express the node.
 */
export function isComposite(args: Arguments): boolean {
  if (args.implementation !== 'composite') return false;
  const limits = compositeLimits(args);
  if (limits.length > 0) throw new UnsupportedNodeError('composite', limits);
  return true;
}
