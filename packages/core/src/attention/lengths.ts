import type { Tensor } from '../tensor/tensor.ts';
import type { AttentionProblem, LengthsKind, Operands } from './problem.ts';
import { required } from './required.ts';

/** One side (queries or keys) of the batch: how long its sequences are and, when packed, where they start. */
export interface SequenceSide {
  /** Positions of sequence b that exist. */
  length(b: number): number;
  /** First token of sequence b in a packed tensor; 0 for the other layouts. */
  start(b: number): number;
}

/**
 * The lengths of a problem as the host sees them.
 * @throws InvalidArgumentError when the problem has lengths but the operand that holds them is missing.
 */
export function createLengths(
  problem: AttentionProblem,
  operands: Partial<Operands<Tensor>>,
): { readonly q: SequenceSide; readonly kv: SequenceSide } {
  const { B, packed } = problem;
  return {
    q: side('Q', problem.lengthsQ, B, problem.Sq, packed, operands.seqLensQ, operands.cuSeqLensQ),
    kv: side('Kv', problem.lengthsKv, B, problem.Skv, packed, operands.seqLensKv, operands.cuSeqLensKv),
  };
}

function side(
  name: 'Q' | 'Kv',
  kind: LengthsKind,
  B: number,
  extent: number,
  packed: boolean,
  seqLens: Tensor | undefined,
  cuSeqLens: Tensor | undefined,
): SequenceSide {
  const needsCumulative = packed || kind === 'cumulative';
  const cumulative = needsCumulative
    ? required(`cuSeqLens${name}`, cuSeqLens).toFloat64()
    : new Float64Array(B + 1);
  const lengths =
    kind === 'full'
      ? new Float64Array(B).fill(extent)
      : kind === 'lengths'
        ? required(`seqLens${name}`, seqLens).toFloat64()
        : Float64Array.from({ length: B }, (_, b) => cumulative[b + 1] - cumulative[b]);
  return { length: b => lengths[b], start: b => (packed ? cumulative[b] : 0) };
}
