import type { SequenceSide } from '../../../../attention/host/sequences.ts';
import type { BackwardOperands, BackwardProblem } from '../../../../attention/problem/problem.ts';
import type { Tensor } from '../../../../tensor/tensor.ts';
import { createRowResult } from '../../../operands/row-result.ts';
import { createScaledResult, type ScaledResult } from '../../../operands/scaled-result.ts';
import type { BackwardInputs } from '../inputs/inputs.ts';
import type { BackwardSums } from '../sums.ts';

/** dq, dk and dv under construction; null if not wanted. */
export type GradientResults = Readonly<Record<'dq' | 'dk' | 'dv', ScaledResult | null>>;

/** The results of a problem, each with the factor that its sums still lack. */
export function createGradientResults(
  problem: BackwardProblem,
  operands: BackwardOperands<Tensor>,
  { kernels, tiles: { lengths }, fp8 }: BackwardInputs,
  sums: BackwardSums,
): GradientResults {
  const hasAmax = problem.forward.fp8 !== null;
  function result(
    name: 'dq' | 'dk' | 'dv',
    side: SequenceSide,
    descale: number,
    scale: number,
  ): ScaledResult | null {
    const tensor = sums[name];
    if (!tensor) return null;
    const desc = problem[name];
    const plain = createRowResult(kernels, tensor, desc, side, operands[`raggedOffsets.${name}`]);
    return createScaledResult(kernels, plain, desc.shape[3], { descale, scale, hasAmax });
  }
  // The scale of the scores turns dS into ∂L/∂(q·k). Apply it once per result, or before dS is rounded.
  const scale = hasAmax ? 1 : problem.forward.scale;
  return {
    dq: result('dq', lengths.q, scale * fp8.descaleDP * fp8.descaleK, fp8.scaleDQ),
    dk: result('dk', lengths.kv, scale * fp8.descaleDP * fp8.descaleQ, fp8.scaleDK),
    dv: result('dv', lengths.kv, fp8.descaleS * fp8.descaleDO, fp8.scaleDV),
  };
}
