import type { AttentionProblem, BackwardProblem } from '@tilewise/core';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { namesOf } from '../../../codegen/text.ts';
import { type Fp8Kernel, fp8Kernel } from '../../config/fp8-steps.ts';
import type { KernelTools, TileConfig } from '../../config/kernel-config.ts';
import { readOperands } from '../../layout/operand.ts';
import type { KernelOperands } from '../../layout/sequence.ts';
import type { TileOperand } from '../../tiles/interface/tile-gemms.ts';
import { tileOperands } from '../../tiles/tile-operands.ts';

/** The rounding of MXFP8 in a gradient kernel. */
export interface BlockRounding {
  /** The operands that the weights multiply, which were quantised along positions. */
  readonly factors: Readonly<Record<'q' | 'k' | 'dO', TileOperand>>;
  /** Statements that compute `ds` from `raw`; undefined for a kernel without dq and dk. */
  readonly round: string | undefined;
  readonly parts: readonly ShaderPart[];
}

/** The rounding of MXFP8 for a kernel with these results; null for a problem without block scales. */
export function blockRounding(
  forward: AttentionProblem,
  config: TileConfig,
  { dq, dk, dv }: KernelOperands = {},
): BlockRounding | null {
  const { tile, tools } = config;
  const { mxfp8 } = tools;
  if (!mxfp8 || forward.fp8?.kind !== 'dequantised') return null;
  const { qT, kT, dOT } = mxfp8.roundedAlongPositions(forward);
  const rounds = dq || dk;
  return {
    factors: tileOperands(forward, 'T'),
    round: rounds && mxfp8.roundBlocks(tile.grid, dq ? 'keys' : 'queries', tile.backend.scoreVectors),
    parts: [
      ...readOperands({ ...(dq && { kT }), ...(dk && { qT }), ...(dv && { dOT }) }, config),
      ...(rounds ? [mxfp8.blockRoundingPart(forward)] : []),
    ],
  };
}

/** Which values a gradient kernel computes: dropout(P), dS, and its results. */
interface GradientValues {
  readonly weight: boolean;
  readonly ds: boolean;
  readonly results?: KernelOperands;
}

/**
 * The FP8 arithmetic of a kernel with these results. The largest dS is measured only once: with dq, or with
 * dk if there is no dq.
 */
export function fp8Gradient(
  { forward, gradients, outputs }: BackwardProblem,
  { weight, ds, results = {} }: GradientValues,
  tools: KernelTools,
): Fp8Kernel {
  const { dq, dk, dv } = results;
  const measuresScores = results[gradients.includes('dq') ? 'dq' : 'dk'] !== undefined;
  return fp8Kernel(
    tools.fp8?.arithmetic,
    forward,
    ['product', ...namesOf({ weight, dp: ds, ds, dq, dk, dv })],
    namesOf({
      amaxDQ: dq && outputs.amaxDQ,
      amaxDK: dk && outputs.amaxDK,
      amaxDV: dv && outputs.amaxDV,
      amaxDP: measuresScores && outputs.amaxDP,
    }),
    'backward',
  );
}
