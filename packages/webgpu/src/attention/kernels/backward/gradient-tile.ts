import type { BackwardProblem } from '@tilewise/core';
import { wordTensor } from '../../../codegen/formats/tensor-binding.ts';
import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { namesOf, statements } from '../../../codegen/text.ts';
import type { TileConfig } from '../../config/kernel-config.ts';
import { readOperands } from '../../layout/operand.ts';
import { probabilitiesPart, rowAddressing } from '../../layout/row-results.ts';
import { type KernelOperands, sequencePart } from '../../layout/sequence.ts';
import { scorePart } from '../../score/score.ts';
import type { ScoreUse } from '../../score/stage.ts';
import type { AccumulateGemm, TileOperand } from '../../tiles/interface/tile-gemms.ts';
import type { TileLoop } from '../../tiles/interface/tile-results.ts';
import { rowValues } from '../../tiles/scores/row-values.ts';
import type { ScoreVector, ScoreVectors } from '../../tiles/scores/score-vectors.ts';
import { tileSize } from '../../tiles/tile.ts';
import { headGroups, tileOperands } from '../../tiles/tile-operands.ts';
import { workgroupReads } from '../workgroup-reads.ts';
import { blockRounding, fp8Gradient } from './eight-bit-gradients.ts';

/**
 * The code that the backward kernels share: it recomputes one tile of P and of dS from q, k, v, dO and the
 * rows' (lse, δ).
 */
export interface GradientTile {
  readonly parts: readonly ShaderPart[];
  /** A statement for the start of the innermost loop over tiles, which skips tiles without visible pairs. */
  readonly skip: string;
  /** A statement that declares `seq`, the sequence of batch entry `b`. */
  readonly sequence: (b: string) => string;
  /** Statements before `loop`. */
  readonly loadStationary: string;
  /**
   * Statements that loop over the tiles of a range of rows, and add to sums. `before` and `after`: statements
   * before the products of a tile, and after its sums.
   */
  loop(
    variable: TileLoop['variable'],
    range: string,
    sums: readonly AccumulateGemm[],
    others?: { readonly before?: string; readonly after?: string },
  ): string;
  /** Statements that declare `i`, the first of this lane's queries, and their row values. */
  readonly loadRowValues: string;
  /**
   * Statements that compute, for each vec4 of the lane's scores (four keys of one query), the requested
   * values: `weight` = dropout(P), `df` = d loss / d(final score) and `ds` = d loss / d(q·k). In FP8,
   * `weight` and `ds` are rounded.
   */
  readonly compute: () => string;
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
  const { dq, dk, dv } = options.results ?? {};
  const blocks = blockRounding(forward, config, options.results);
  const factors = blocks?.factors ?? operands;
  const { rows, cols } = tileSize(tile.grid);
  const { grid, backend, operandType } = tile;
  const { scoreVectors: vectors } = backend;
  const values = rowValues('row', grid, vectors);
  const isOfMod = slope === 'by the modified score';
  const computed = namesOf({ weight, ds, raw: blocks?.round, df: options.df, unmodified: isOfMod });
  const gradient = 'select(vec4f(), df * scored.slope, scored.visible)';
  const factor = dropout ? ' * factor' : '';
  /** Statements that compute P and its gradients for four keys of one query. */
  const gradientsOf = ({ row, key, of }: ScoreVector, fullTile: string): string => {
    const pairs = `seq, h, i + ${row}, ${key}`;
    return statements(
      `let scored = score4(${pairs}, ${of('s')}, ${fullTile});`,
      `let p = probabilities(scored.value, ${values.of(row)}.x, scored.visible);`,
      dropout && `let factor = dropout4(${pairs});`,
      isOfMod && `${of('unmodified')} = scored.unmodified;`,
      weight && `${of('weight')} = ${fp8.apply('weight', `p${factor}`)};`,
      ds &&
        `let df = select(vec4f(), p * (${fp8.apply('dp', of('dp'))}${factor} - ${values.of(row)}.y), scored.visible);`,
      ds && options.df && `${of('df')} = df;`,
      ds && `${of(blocks?.round ? 'raw' : 'ds')} = ${isOfMod ? gradient : fp8.apply('ds', gradient)};`,
    );
  };

  const scores = { into: 's', a: operands.q, b: operands.k };
  const products = ds
    ? ([scores, { into: 'dp', a: operands.dO, b: operands.v }] as const)
    : ([scores] as const);
  const summed = [...(dq ? [factors.k] : []), ...(dv ? [factors.dO] : []), ...(dk ? [factors.q] : [])];
  const isFull = (i = 'i0', j = 'j0'): string =>
    `tile_inside(seq, ${i}, ${i} + ${rows}u, ${j}, ${j} + ${cols}u)`;
  const skip = reads.skip(score.isVisibleTile);
  const compute = (
    full = isFull(),
    sums: readonly AccumulateGemm[] = [],
  ): string => `// S = Q·Kᵀ${ds ? ', dP = dO·Vᵀ' : ''}
    let full_tile = ${full};
    ${backend.scores(products, sums, score.isVisibleTile)}

    // P = e^(S − lse)${ds ? ', dS = P ∘ (dP − δ) ∘ slope' : ''}
    let j = j0 + tx * ${4 * grid.cols}u;
    ${vectors.declare(namesOf({ s: true, dp: ds }), computed)}
    ${backend.specialised(fullTile => vectors.each(vector => gradientsOf(vector, fullTile)))}
    ${blocks?.round ?? ''}`;

  return {
    parts: [
      ...backend.parts(products, summed),
      { uniforms: headGroups(forward) },
      ...fp8.parts,
      ...sequencePart(forward, { q: forward.q, k: forward.k, v: forward.v, dO, ...options.results }),
      ...readOperands(
        {
          ...{ q: forward.q, k: forward.k },
          ...(ds && { v: forward.v }),
          ...((ds || !blocks) && { dO }),
        },
        config,
        operandType,
      ),
      ...(blocks?.parts ?? []),
      rowAddressing(forward),
      probabilitiesPart,
      wordTensor('workspace', 'read', 'vec2f'),
      ...score.parts,
      reads.part,
      dropout ?? {},
    ],
    skip,
    sequence: reads.sequence,
    loadStationary: backend.loadStationary(products, summed),
    loop: (variable, range, sums, { before = '', after = '' } = {}) =>
      backend.loop(
        {
          ...{ variable, range, size: variable === 'i0' ? rows : cols },
          isFull: at => (variable === 'i0' ? isFull(at) : isFull('i0', at)),
          body: full => `
    ${skip}
    ${before}
    ${compute(full, sums)}

    ${
      sums.length > 0
        ? `// ${variable === 'i0' ? 'dV += Pᵀ·dO, dK += dSᵀ·Q' : 'dQ += dS·K'}
    ${backend.accumulate(products, sums)}`
        : ''
    }
    ${after}`,
        },
        products,
        sums,
        score.isVisibleTile,
      ),
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
