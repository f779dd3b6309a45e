import type { BackwardProblem } from '@tilewise/core';
import { wordTensor } from '../../../codegen/formats/tensor-binding.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { namesOf } from '../../../codegen/text.ts';
import { type Fp8Kernel, fp8Kernel } from '../../config/fp8-steps.ts';
import type { KernelTools, TileConfig } from '../../config/kernel-config.ts';
import { readOperand } from '../../layout/operand.ts';
import { probabilitiesPart, rowAddressing } from '../../layout/row-results.ts';
import { type KernelOperands, sequencePart } from '../../layout/sequence.ts';
import { scorePart } from '../../score/score.ts';
import type { ScoreUse } from '../../score/stage.ts';
import { rowValues } from '../../tiles/scores/row-values.ts';
import type { ScoreVectors } from '../../tiles/scores/score-vectors.ts';
import { tileSize } from '../../tiles/tile.ts';
import type { AccumulateGemm, ScoreGemm, TileOperand } from '../../tiles/tile-backend.ts';
import { headGroups, tileOperands } from '../../tiles/tile-operands.ts';
import { workgroupReads } from '../workgroup-reads.ts';

/**
 * The code that the backward kernels share: it recomputes one tile of P and of dS from q, k, v, dO and the
 * rows' (lse, δ).
 */
export interface GradientTile {
  readonly parts: readonly ShaderPart[];
  /** A statement for the start of the innermost loop over tiles, which skips tiles without visible pairs. */
  readonly skip: string;
  /** The condition under which tiles are not skipped; empty if none is skipped. */
  readonly visible: string;
  /** A statement that declares `seq`, the sequence of batch entry `b`. */
  readonly sequence: (b: string) => string;
  readonly products: readonly ScoreGemm[];
  /** Statements before the innermost loop over tiles. */
  readonly keep: string;
  /** Statements that declare `i`, the first of this lane's queries, and their row values. */
  readonly loadRowValues: string;
  /**
   * Statements that compute, for each vec4 of the lane's scores (four keys of one query), the requested
   * values: `weight` = dropout(P), `df` = d loss / d(final score) and `ds` = d loss / d(q·k). In FP8,
   * `weight` and `ds` are rounded. `sums`: the sums that follow in the same block.
   */
  readonly compute: (sums?: readonly AccumulateGemm[]) => string;
  readonly vectors: ScoreVectors;
  /** WGSL condition: some weights may be 0 because their pairs are masked. */
  readonly nonFiniteGuard: string;
  /** The operands that the weights multiply: dS and k give dq, dS and q give dk, and P and dO give dv. */
  readonly factors: Readonly<Record<'q' | 'k' | 'dO', TileOperand>>;
  /** WGSL expression of the value to store for the sum `x` (vec4f) of a result. */
  readonly stored: (name: 'dq' | 'dk' | 'dv', x: string) => string;
  /** Statements for the end of the kernel. */
  readonly finish: string;
}

export interface GradientTileOptions {
  /** Whether to compute dropout(P), which dV needs. */
  readonly weight: boolean;
  /** Whether to compute dS, which dQ and dK need. */
  readonly ds: boolean;
  /** The kernel's results whose layouts are those of operands. */
  readonly results?: KernelOperands;
  /** Whether dbias needs the gradients of the final scores. Default false. */
  readonly df?: boolean;
  /**
   * The variable by which dS and the score slopes differentiate. Default: q·k. If it is the modified score,
   * `unmodified` is the score before the mod, and FP8 does not round `ds`.
   */
  readonly slope?: ScoreUse['slope'];
  /** Whether the kernel writes to the workspace: see `workgroupReads`. Default false. */
  readonly writesWorkspace?: boolean;
}

/**
 * Recomputes P = exp(S − lse), dP = (dO·Vᵀ) ∘ dropout and dS = P ∘ (dP − δ) (Dao 2022, appendix B.2), and
 * multiplies dS by the slope of the score stages, which turns it into the gradient of q·k.
 */
export function gradientTile(
  problem: BackwardProblem,
  config: TileConfig,
  options: GradientTileOptions,
): GradientTile {
  const { tile, tools } = config;
  const { forward, dO } = problem;
  const operands = tileOperands(forward);
  const { weight, ds, slope = 'by q·k' } = options;
  const score = scorePart(forward, { tile, slope, mods: tools.mods });
  const dropout = tools.dropout?.part(forward);
  const reads = workgroupReads(options.writesWorkspace ?? false);
  const fp8 = fp8Gradient(problem, options, tools);
  const blockTools = forward.fp8?.kind === 'dequantised' ? tools.mxfp8 : null;
  const { dq, dk, dv } = options.results ?? {};
  const blocks = dq || dk ? blockTools : null;
  const rounded = blockTools?.roundedAlongPositions(forward);
  const factors = rounded
    ? {
        q: { ...operands.q, name: 'qT' },
        k: { ...operands.k, name: 'kT' },
        dO: { ...operands.dO, name: 'dOT' },
      }
    : operands;
  const { rows, cols } = tileSize(tile.grid);
  const { grid, backend, operandType } = tile;
  const { scoreVectors: vectors } = backend;
  const values = rowValues('row', grid, vectors);
  const isOfMod = slope === 'by the modified score';
  const computed = namesOf({ weight, ds, raw: ds && blocks, df: options.df, unmodified: isOfMod });
  const gradient = 'select(vec4f(), df * scored.slope, scored.visible)';

  const scores = { into: 's', a: operands.q, b: operands.k };
  const products = ds
    ? ([scores, { into: 'dp', a: operands.dO, b: operands.v }] as const)
    : ([scores] as const);
  const summed = [...(dq ? [factors.k] : []), ...(dv ? [factors.dO] : []), ...(dk ? [factors.q] : [])];
  const compute = (sums: readonly AccumulateGemm[] = []): string => `// S = Q·Kᵀ${ds ? ', dP = dO·Vᵀ' : ''}
    let full_tile = tile_inside(seq, i0, i0 + ${rows}u, j0, j0 + ${cols}u);
    ${backend.scores(products, sums, score.isVisibleTile)}

    // P = e^(S − lse)${ds ? ', dS = P ∘ (dP − δ) ∘ slope' : ''}
    let j = j0 + tx * ${4 * grid.cols}u;
    ${vectors.declare(namesOf({ s: true, dp: ds }), computed)}
    ${backend.specialised(fullTile =>
      vectors.each(({ row, key, of }) => {
        const place = `seq, h, i + ${row}, ${key}`;
        return `let scored = score4(${place}, ${of('s')}, ${fullTile});
    let p = probabilities(scored.value, ${values.of(row)}.x, scored.visible);
    ${dropout ? `let factor = dropout4(${place});` : ''}
    ${isOfMod ? `${of('unmodified')} = scored.unmodified;` : ''}
    ${weight ? `${of('weight')} = ${fp8.apply('weight', dropout ? 'p * factor' : 'p')};` : ''}
    ${
      ds
        ? `let df = select(vec4f(), p * (${fp8.apply('dp', of('dp'))}${dropout ? ' * factor' : ''} - ${values.of(row)}.y), scored.visible);
    ${options.df ? `${of('df')} = df;` : ''}
    ${of(blocks ? 'raw' : 'ds')} = ${isOfMod ? gradient : fp8.apply('ds', gradient)};`
        : ''
    }`;
      }),
    )}
    ${blocks ? blocks.roundBlocks(grid, dq ? 'keys' : 'queries', vectors) : ''}`;

  return {
    parts: [
      ...backend.parts(products, summed),
      { uniforms: headGroups(forward) },
      ...fp8.parts,
      ...sequencePart(forward, { q: forward.q, k: forward.k, v: forward.v, dO, ...options.results }),
      readOperand('q', forward.q, config, operandType),
      readOperand('k', forward.k, config, operandType),
      ...(ds ? [readOperand('v', forward.v, config, operandType)] : []),
      ...(ds || !rounded ? [readOperand('dO', dO, config, operandType)] : []),
      ...(rounded && dq ? [readOperand('kT', rounded.kT, config)] : []),
      ...(rounded && dk ? [readOperand('qT', rounded.qT, config)] : []),
      ...(rounded && dv ? [readOperand('dOT', rounded.dOT, config)] : []),
      blocks ? blocks.blockRoundingPart(forward) : {},
      rowAddressing(forward),
      probabilitiesPart,
      wordTensor('workspace', 'read', 'vec2f'),
      ...score.parts,
      reads.part,
      ...(dropout ? [dropout] : []),
    ],
    skip: reads.skip(score.isVisibleTile),
    visible: score.isVisibleTile,
    sequence: reads.sequence,
    products,
    keep: backend.loadStationary(products, summed),
    loadRowValues: `// (lse, δ) of each row
    let i = i0 + ty * ${grid.rows}u;
    ${values.load(
      'vec2f(3e38, 0.0)',
      (own, row) => `if (i + ${row} < seq.length_q) {
      ${own} = workspace[P.workspace_base + row_at(seq, h, i + ${row})];
    }`,
    )}`,
    compute,
    vectors,
    nonFiniteGuard: score.masks ? 'true' : '!full_tile',
    factors,
    stored: fp8.apply,
    finish: fp8.finish,
  };
}

/**
 * The FP8 arithmetic of a kernel with these results. The largest dS is measured only once: with dq, or with
 * dk if there is no dq.
 */
function fp8Gradient(
  { forward, gradients, outputs }: BackwardProblem,
  { weight, ds, results = {} }: GradientTileOptions,
  tools: KernelTools,
): Fp8Kernel {
  const stored = (['dq', 'dk', 'dv'] as const).filter(name => results[name]);
  const amax = { dq: 'amaxDQ', dk: 'amaxDK', dv: 'amaxDV' } as const;
  const measuresScores = results[gradients.includes('dq') ? 'dq' : 'dk'] !== undefined;
  return fp8Kernel(
    tools.fp8?.arithmetic,
    forward,
    ['product', ...(weight ? (['weight'] as const) : []), ...(ds ? (['dp', 'ds'] as const) : []), ...stored],
    [
      ...stored.map(name => amax[name]).filter(name => outputs[name]),
      ...(measuresScores && outputs.amaxDP ? (['amaxDP'] as const) : []),
    ],
    'backward',
  );
}
