import type { SequenceSide } from '../attention/lengths.ts';
import type { BackwardOperands } from '../attention/normalise.ts';
import type { BackwardAmaxName, GradientName } from '../attention/options.ts';
import type { BackwardProblem } from '../attention/problem.ts';
import { dequantised } from '../mxfp8/dequantise.ts';
import { createFp8 } from '../score/fp8.ts';
import { Tensor } from '../tensor/tensor.ts';
import { type BlockPanels, createBlockPanels } from './block-panels.ts';
import { roundTile } from './fp8-tile.ts';
import { createHeadGradient } from './head-gradient.ts';
import { padded } from './kernels.ts';
import type { Machine } from './machine.ts';
import { typescriptKernels } from './matmul.ts';
import { toProbabilities, toScoreGradients } from './probabilities.ts';
import { createRowResult } from './results.ts';
import { createRowGradients } from './row-gradients.ts';
import { createScaledResult, type ScaledResult } from './scaled-result.ts';
import { createCaptureGradients, createProductGradient, createScoreGradients } from './score-gradients.ts';
import { createScoreTiles } from './score-tiles.ts';
import { tileSizeOf, wholeBlocks } from './tile-size.ts';
import { addWeightedRows } from './weighted-sum.ts';

/** Gradients and largest values by name, those that were asked for; and the gradients of the tensors that the score mod loads floats from. */
export interface BackwardResults {
  readonly gradients: Readonly<Partial<Record<GradientName | BackwardAmaxName, Tensor>>>;
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
}

/**
 * The gradients of a problem, tile by tile (FlashAttention-2, Dao 2023, algorithm 2, with queries outside): p is computed
 * again from lse, and one pass of five products gives dq of a tile of queries and adds to dk and dv of the head. All sums
 * are made in one fixed order, so that two runs agree bit by bit.
 */
export function backward(
  problem: BackwardProblem,
  givenOperands: BackwardOperands<Tensor>,
  { kernels = typescriptKernels, tiles: askedSize = tileSizeOf(problem.forward) }: Machine = {},
): BackwardResults {
  const { gradients: wanted, outputs } = problem;
  const { problem: forward, operands } = dequantised(problem.forward, givenOperands);
  const size = forward.fp8?.kind === 'dequantised' ? wholeBlocks(askedSize) : askedSize;
  const { B, Hq, Hk, Hv, Skv, Dqk, Dv } = forward;
  const wants = (name: GradientName): boolean => wanted.includes(name);
  const hasProducts = forward.scoreMod !== null || forward.softcap !== null;
  const tiles = createScoreTiles(forward, operands, kernels, size, {
    kRows: wants('dq') && forward.fp8?.kind !== 'dequantised',
    vRows: false,
    vColumns: true,
    products: hasProducts,
  });
  const { lengths, chain, scores: p, products, ld, v, keep } = tiles;
  const fp8 = createFp8(forward, operands, 'backward');
  const given = createRowGradients(problem, operands, lengths.q, kernels, size.rows, fp8);
  const { lse, delta } = given;
  const blocks = createBlockPanels(forward, operands, lengths, kernels, size);
  const { q, k, dO8, dOT } = blocks ?? { q: tiles.q, k: tiles.k, dO8: given.dO, dOT: given.dO };

  const ldQ = padded(Dqk);
  const ldV = padded(Dv);
  function result(
    name: 'dq' | 'dk' | 'dv',
    side: SequenceSide,
    descale: number,
    scale: number,
  ): ScaledResult {
    const plain = createRowResult(problem[name], side, operands[`raggedOffsets.${name}`]);
    return createScaledResult(plain, problem[name].shape[3], descale, scale);
  }
  const { descaleDP, descaleS, descaleDO } = fp8;
  const dq = wants('dq') ? result('dq', lengths.q, descaleDP * fp8.descaleK, fp8.scaleDQ) : null;
  const dk = wants('dk') ? result('dk', lengths.kv, descaleDP * fp8.descaleQ, fp8.scaleDK) : null;
  const dv = wants('dv') ? result('dv', lengths.kv, descaleS * descaleDO, fp8.scaleDV) : null;
  let amaxDP = 0;
  const dqSums = kernels.allocate(dq ? size.rows * ldQ : 0);
  const dkHead = dk && createHeadGradient(kernels, dk, Skv, ldQ);
  const dvHead = dv && createHeadGradient(kernels, dv, Skv, ldV);
  const scoreGradients = createScoreGradients(forward, chain, wanted);
  const captureGradients = createCaptureGradients(forward, chain);
  const takers = [...Object.values(scoreGradients), ...(captureGradients ? [captureGradients] : [])];
  const toProductGradient = createProductGradient(forward, chain);
  const dsink = wants('dsink') ? new Float64Array(Hq) : null;
  const sinks = operands.sink?.toFloat64();

  const needsScores = dq !== null || dk !== null || takers.length > 0;
  const needsTiles = needsScores || dv !== null;
  const dp = kernels.allocate(needsScores ? size.rows * ld : 0);
  const ownWeights = dv !== null && (keep !== null || forward.fp8 !== null);
  const weights = ownWeights ? kernels.allocate(size.rows * ld) : p;

  function addValueGradient(rows: number, j0: number, columns: number): void {
    if (!dvHead) return;
    if (ownWeights) weights.set(p);
    keep?.drop(weights, ld, rows, columns);
    if (forward.fp8) roundTile(weights, ld, rows, columns, fp8, fp8.scaleS);
    const add = dOT.isFinite() ? kernels.multiply : addWeightedRows;
    add(columns, ldV, rows, weights, 0, 1, ld, dOT.data, 0, ldV, dvHead.sums, j0 * ldV, ldV, true);
  }

  function addScoreGradients(b: number, h: number, i0: number, rows: number, tile: number): void {
    const j0 = tile * size.columns;
    const columns = tiles.columns(tile);
    const at = v.columnsAt(tile);
    v.load(tile);
    kernels.multiply(rows, padded(columns), Dv, dO8.data, 0, ldV, 1, v.columns, at, ld, dp, 0, ld, false);
    if (forward.fp8) for (let n = 0; n < rows * ld; n++) dp[n] *= descaleDO * fp8.descaleV;
    keep?.drop(dp, ld, rows, columns);
    toScoreGradients(dp, p, ld, rows, columns, delta);
    for (const { take } of takers) take(dp, products, ld, b, h, i0, rows, j0, columns);

    toProductGradient(dp, products, ld, b, h, i0, rows, j0, columns);
    const dSForK = blocks ? roundBlocks(blocks, rows, columns) : dp;
    if (forward.fp8 && !blocks) amaxDP = Math.max(amaxDP, roundTile(dp, ld, rows, columns, fp8, fp8.scaleDP));
    if (dq) {
      const add = k.load(tile) ? kernels.multiply : addWeightedRows;
      add(rows, ldQ, columns, dp, 0, ld, 1, k.rows, j0 * ldQ, ldQ, dqSums, 0, ldQ, true);
    }
    if (dkHead) {
      const add = q.isFinite() ? kernels.multiply : addWeightedRows;
      add(columns, ldQ, rows, dSForK, 0, 1, ld, q.data, 0, ldQ, dkHead.sums, j0 * ldQ, ldQ, true);
    }
  }

  /** Rounds dS for dq in place and gives it as dk takes it. */
  function roundBlocks(panels: BlockPanels, rows: number, columns: number): Float32Array {
    for (let i = 0; i < rows; i++) {
      for (let at = i * ld; at < i * ld + columns; at++) amaxDP = Math.max(amaxDP, Math.abs(dp[at]));
    }
    return panels.round(dp, ld, rows, columns);
  }

  function addTile(b: number, h: number, i0: number, rows: number, tile: number): void {
    if (!tiles.compute(tile)) return;
    const columns = tiles.columns(tile);
    toProbabilities(p, ld, rows, columns, lse);
    keep?.load(b, h, i0, rows, tile * size.columns, columns);
    addValueGradient(rows, tile * size.columns, columns);
    if (needsScores) addScoreGradients(b, h, i0, rows, tile);
  }

  function addSinkGradient(h: number, rows: number): void {
    if (!dsink || !sinks) return;
    for (let i = 0; i < rows; i++) {
      if (lse[i] !== -Infinity) dsink[h] -= Math.exp(sinks[h] - lse[i]) * delta[i];
    }
  }

  for (let b = 0; b < B; b++) {
    const length = lengths.q.length(b);
    for (let h = 0; h < Hq; h++) {
      dkHead?.select(b, Math.floor(h / (Hq / Hk)), lengths.kv.length(b));
      dvHead?.select(b, Math.floor(h / (Hq / Hv)), lengths.kv.length(b));
      for (let i0 = 0; i0 < length; i0 += size.rows) {
        const rows = Math.min(size.rows, length - i0);
        given.load(b, h, i0, rows);
        addSinkGradient(h, rows);
        if (!needsTiles) continue;
        tiles.select(b, h, i0, rows);
        blocks?.load(b, h, i0, rows);
        dqSums.fill(0);
        for (let t = tiles.firstTile(); t < tiles.endTile(); t++) addTile(b, h, i0, rows, t);
        dq?.store(b, h, i0, rows, dqSums, 0, ldQ);
      }
    }
  }
  dkHead?.finish();
  dvHead?.finish();

  const amax = (name: BackwardAmaxName, value: number | undefined): Tensor | null =>
    outputs[name] && value !== undefined ? Tensor.from([value], [1]) : null;
  const results: Readonly<Partial<Record<GradientName | BackwardAmaxName, Tensor | null>>> = {
    dq: dq?.tensor,
    dk: dk?.tensor,
    dv: dv?.tensor,
    dbias: scoreGradients.dbias?.result(),
    dsink: dsink && Tensor.from(dsink, [Hq]),
    dAlibi: scoreGradients.dAlibi?.result(),
    amaxDQ: amax('amaxDQ', dq?.amax()),
    amaxDK: amax('amaxDK', dk?.amax()),
    amaxDV: amax('amaxDV', dv?.amax()),
    amaxDP: amax('amaxDP', amaxDP),
  };
  return {
    gradients: Object.fromEntries(Object.entries(results).filter(([, t]) => t)),
    dCaptures: captureGradients?.results() ?? null,
  };
}
