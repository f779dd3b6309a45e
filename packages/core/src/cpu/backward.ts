import type { SequenceSide } from '../attention/lengths.ts';
import type { BackwardOperands } from '../attention/normalise.ts';
import type { BackwardAmaxName, GradientName } from '../attention/options.ts';
import type { BackwardProblem } from '../attention/problem.ts';
import { dequantised } from '../mxfp8/dequantise.ts';
import { createFp8 } from '../score/fp8.ts';
import { Tensor } from '../tensor/tensor.ts';
import { createBlockPanels } from './block-panels.ts';
import { roundTile } from './fp8-tile.ts';
import { createHeadGradient } from './head-gradient.ts';
import { padded, STRIP } from './kernels/kernels.ts';
import type { Panel } from './kernels/memory.ts';
import type { Machine } from './machine.ts';
import { createRowResult } from './results.ts';
import { createRowGradients } from './row-gradients.ts';
import { createScaledResult, type ScaledResult } from './scaled-result.ts';
import { createCaptureGradients, createProductGradient, createScoreGradients } from './score-gradients.ts';
import { createScoreTiles } from './score-tiles.ts';
import { tileSizeOf, wholeBlocks } from './tile-size.ts';

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
  { kernels, tiles: askedSize = tileSizeOf(problem.forward) }: Machine,
): BackwardResults {
  const { gradients: wanted, outputs } = problem;
  const { problem: forward, operands } = dequantised(problem.forward, givenOperands);
  const size = forward.fp8?.kind === 'dequantised' ? wholeBlocks(askedSize) : askedSize;
  const { B, Hq, Hk, Hv, Skv, Dqk, Dv, scale } = forward;
  const T = size.columns;
  const { memory } = kernels;
  memory.reset();
  const wants = (name: GradientName): boolean => wanted.includes(name);
  const tiles = createScoreTiles(forward, operands, kernels, size, {
    kRows: wants('dq') && forward.fp8?.kind !== 'dequantised',
    vRows: false,
    vColumns: true,
    qPanels: wants('dk'),
    products: forward.scoreMod !== null || forward.softcap !== null,
  });
  const { lengths, chain, scores: p, products, ld, v, keep } = tiles;
  const fp8 = createFp8(forward, operands, 'backward');
  const given = createRowGradients(problem, operands, lengths.q, kernels, size.rows, fp8);
  const blocks = createBlockPanels(forward, operands, lengths, kernels, size);
  const { q, k, dO8, dOT } = blocks ?? { q: tiles.q, k: tiles.k, dO8: given.dO, dOT: given.dO };

  function result(
    name: 'dq' | 'dk' | 'dv',
    side: SequenceSide,
    descale: number,
    scale: number,
  ): ScaledResult {
    const desc = problem[name];
    const plain = createRowResult(memory, desc, side, operands[`raggedOffsets.${name}`]);
    return createScaledResult(kernels, plain, desc.shape[3], descale, scale, forward.fp8 !== null);
  }
  const { descaleDP, descaleS, descaleDO } = fp8;
  // dS becomes ∂L/∂(q·k) by the scale of the scores: once per result, except where it is rounded before.
  const resultScale = forward.fp8 ? 1 : scale;
  const descaleDQ = resultScale * descaleDP * fp8.descaleK;
  const descaleDK = resultScale * descaleDP * fp8.descaleQ;
  const dq = wants('dq') ? result('dq', lengths.q, descaleDQ, fp8.scaleDQ) : null;
  const dk = wants('dk') ? result('dk', lengths.kv, descaleDK, fp8.scaleDK) : null;
  const dv = wants('dv') ? result('dv', lengths.kv, descaleS * descaleDO, fp8.scaleDV) : null;
  let amaxDP = 0;
  const tileLength = Math.ceil(size.rows / STRIP) * STRIP;
  const widthQ = padded(Dqk);
  const widthV = padded(Dv);
  const dqSums = memory.floats(dq ? tileLength * widthQ : 0);
  const dkHead = dk && createHeadGradient(kernels, dk, Skv, Dqk);
  const dvHead = dv && createHeadGradient(kernels, dv, Skv, Dv);
  const scoreGradients = createScoreGradients(forward, chain, wanted);
  const captureGradients = createCaptureGradients(forward, chain);
  const takers = [...Object.values(scoreGradients), ...(captureGradients ? [captureGradients] : [])];
  const toProductGradient = createProductGradient(forward, chain);
  const dsink = wants('dsink') ? new Float64Array(Hq) : null;
  const sinks = operands.sink?.toFloat64();

  const needsScores = dq !== null || dk !== null || takers.length > 0;
  const needsTiles = needsScores || dv !== null;
  const dp = memory.floats(needsScores ? tileLength * T : 0);
  const ownWeights = dv !== null && (keep !== null || forward.fp8 !== null);
  const weights = ownWeights ? memory.floats(tileLength * T) : p;

  function addValueGradient(rows: number, j0: number, columns: number): void {
    if (!dvHead) return;
    if (keep) keep.drop(p.at, weights.at, ld, rows, columns);
    else if (ownWeights) weights.values.set(p.values);
    if (forward.fp8) roundTile(weights.values, T, rows, columns, fp8, fp8.scaleS);
    const to = dvHead.at + j0 * dvHead.ld;
    kernels.addTransposedProduct(
      ...([columns, widthV, rows, weights.at, ld, dOT.panels, dOT.panelBytes, to, dvHead.ld] as const),
      ...([tiles.ranges(), j0, !dOT.isFinite()] as const),
    );
  }

  function addScoreGradients(b: number, h: number, i0: number, rows: number, tile: number): void {
    const j0 = tile * T;
    const columns = tiles.columns(tile);
    const ranges = tiles.ranges();
    const factor = descaleDO * fp8.descaleV;
    v.load(tile);
    const at = v.columnsAt(tile);
    kernels.multiplyScores(rows, columns, Dv, dO8.at, dO8.ld, at, dp.at, ld, factor, ranges, j0);
    keep?.drop(dp.at, dp.at, ld, rows, columns);
    kernels.toScoreGradients(rows, columns, dp.at, p.at, ld, given.deltaAt);
    for (const { take } of takers) take(dp.values, products, T, b, h, i0, rows, j0, columns);

    toProductGradient?.(dp.values, products, T, b, h, i0, rows, j0, columns);
    const forK = forward.fp8 ? roundScoreGradients(rows, columns) : dp;
    if (dq) {
      const guarded = !k.load(tile);
      const panels = k.rowsAt(tile);
      const bytes = k.rowPanelBytes;
      const to = dqSums.at;
      const ldQ = 4 * widthQ;
      kernels.addProduct(rows, widthQ, columns, dp.at, ld, panels, bytes, to, ldQ, ranges, j0, guarded);
    }
    if (dkHead) {
      const to = dkHead.at + j0 * dkHead.ld;
      kernels.addTransposedProduct(
        ...([columns, widthQ, rows, forK.at, ld, q.panels, q.panelBytes, to, dkHead.ld] as const),
        ...([ranges, j0, !q.isFinite()] as const),
      );
    }
  }

  /** Rounds ∂L/∂(q·k) for dq in place and gives it as dk takes it. */
  function roundScoreGradients(rows: number, columns: number): Panel {
    const { values } = dp;
    for (let n = 0; n < rows * T; n++) values[n] *= scale;
    if (!blocks) {
      amaxDP = Math.max(amaxDP, roundTile(values, T, rows, columns, fp8, fp8.scaleDP));
      return dp;
    }
    for (let i = 0; i < rows; i++) {
      for (let at = i * T; at < i * T + columns; at++) amaxDP = Math.max(amaxDP, Math.abs(values[at]));
    }
    return blocks.round(values, T, rows, columns);
  }

  function addTile(b: number, h: number, i0: number, rows: number, tile: number): void {
    if (!tiles.compute(tile)) return;
    const j0 = tile * T;
    const columns = tiles.columns(tile);
    kernels.toProbabilities(rows, columns, p.at, ld, given.lseAt, tiles.ranges(), j0);
    keep?.load(b, h, i0, rows, j0, columns);
    addValueGradient(rows, j0, columns);
    if (needsScores) addScoreGradients(b, h, i0, rows, tile);
  }

  function addSinkGradient(h: number, rows: number): void {
    if (!dsink || !sinks) return;
    for (let i = 0; i < rows; i++) {
      const lse = given.lse(i);
      if (lse !== -Infinity) dsink[h] -= Math.exp(sinks[h] - lse) * given.delta(i);
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
        dqSums.values.fill(0);
        for (let t = tiles.firstTile(); t < tiles.endTile(); t++) addTile(b, h, i0, rows, t);
        dq?.store(b, h, i0, rows, dqSums.at, 4 * widthQ);
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
