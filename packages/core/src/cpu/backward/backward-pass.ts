import { dequantised } from '../../attention/host/dequantise.ts';
import type { SequenceSide } from '../../attention/host/sequences.ts';
import type {
  BackwardAmaxName,
  BackwardOperands,
  BackwardProblem,
  GradientName,
} from '../../attention/problem/problem.ts';
import { createFp8 } from '../../score/fp8.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { padded, STRIP } from '../kernels/kernels.ts';
import type { Panel } from '../kernels/memory.ts';
import type { Machine } from '../machine.ts';
import { createRowResult } from '../operands/row-result.ts';
import { createScaledResult, type ScaledResult } from '../operands/scaled-result.ts';
import { backwardWork, type Claim, headsThatShare, type KeysTask, type TileRange } from '../tasks.ts';
import { roundTile } from '../tiles/fp8.ts';
import { createScoreTiles } from '../tiles/score-tiles.ts';
import { tileSizeOf, wholeBlocks } from '../tiles/tile-size.ts';
import { createBlockPanels } from './block-panels.ts';
import { createRowGradients } from './delta.ts';
import { createHeadGradient } from './head-gradient.ts';
import { createQueryGradient, type PartsOfDq } from './query-gradient.ts';
import { createCaptureGradients, createProductGradient, createScoreGradients } from './score-gradients.ts';

const NO_TILES: TileRange = { firstTile: 0, endTile: 0 };

/** Where the tasks of backward write. */
export interface BackwardSums {
  readonly dq: Tensor | null;
  readonly dk: Tensor | null;
  readonly dv: Tensor | null;
  /** Where threads leave the dq of heads whose keys are cut, in shared memory. */
  readonly dqParts: PartsOfDq | null;
  /** Per sequence (B, Hq). */
  readonly dsink: Float64Array | null;
  readonly dAlibi: Float64Array | null;
  /** In the own shape of the bias. */
  readonly dbias: Float64Array | null;
}

/** What a thread has found in its tasks besides: gradients that are sums over all of them, and the largest magnitudes of FP8 problems. */
export interface BackwardExtras {
  readonly dCaptures: Readonly<Record<string, Tensor>> | null;
  readonly amax: BackwardAmax;
}

export type BackwardAmax = Readonly<Partial<Record<BackwardAmaxName, number>>>;

/**
 * Computes the tasks that are claimed of a problem's backward pass, tile by tile (FlashAttention-2, Dao 2023, algorithm 2, with queries outside): p is computed
 * again from lse, and one pass of five products gives dq of a tile of queries and adds to dk and dv of the head. All sums
 * are made in one fixed order, so that two runs agree bit by bit.
 */
export function runBackward(
  problem: BackwardProblem,
  givenOperands: BackwardOperands<Tensor>,
  { kernels, tiles: askedSize = tileSizeOf(problem.forward), threads = 1, awaitHeads }: Machine,
  results: BackwardSums,
  claim: Claim,
): BackwardExtras {
  const { gradients: wanted } = problem;
  const { problem: forward, operands } = dequantised(problem.forward, givenOperands);
  const size = forward.fp8?.kind === 'dequantised' ? wholeBlocks(askedSize) : askedSize;
  const { Hq, Hk, Hv, Sq, Dqk, Dv, scale } = forward;
  const T = size.columns;
  const { memory } = kernels;
  memory.reset();
  const wants = (name: GradientName): boolean => wanted.includes(name);
  const tiles = createScoreTiles(forward, operands, kernels, size, {
    kRows: wants('dq') && forward.fp8?.kind !== 'dequantised',
    vRows: false,
    vColumns: true,
    qPanels: wants('dk'),
    derivatives: true,
  });
  const { lengths, chain, scores: p, products, softcap, ld, v, keep } = tiles;
  const fp8 = createFp8(forward, operands, 'backward');
  const given = createRowGradients(problem, operands, lengths.q, kernels, size.rows, fp8);
  const blocks = createBlockPanels(forward, operands, lengths, kernels, size);
  const { q, k, dO8, dOT } = blocks ?? { q: tiles.q, k: tiles.k, dO8: given.dO, dOT: given.dO };

  function result(
    name: 'dq' | 'dk' | 'dv',
    side: SequenceSide,
    descale: number,
    scale: number,
  ): ScaledResult | null {
    const tensor = results[name];
    if (!tensor) return null;
    const desc = problem[name];
    const offsets = operands[`raggedOffsets.${name}`];
    const plain = createRowResult(kernels, tensor, desc, side, offsets);
    return createScaledResult(kernels, plain, desc.shape[3], descale, scale, forward.fp8 !== null);
  }
  const { descaleDP, descaleS, descaleDO } = fp8;
  // dS becomes ∂L/∂(q·k) by the scale of the scores: once per result, except where it is rounded before.
  const resultScale = forward.fp8 ? 1 : scale;
  const descaleDQ = resultScale * descaleDP * fp8.descaleK;
  const descaleDK = resultScale * descaleDP * fp8.descaleQ;
  const dq = result('dq', lengths.q, descaleDQ, fp8.scaleDQ);
  const dk = result('dk', lengths.kv, descaleDK, fp8.scaleDK);
  const dv = result('dv', lengths.kv, descaleS * descaleDO, fp8.scaleDV);
  let amaxDP = 0;
  const tileLength = Math.ceil(size.rows / STRIP) * STRIP;
  const widthQ = padded(Dqk);
  const widthV = padded(Dv);
  const work = backwardWork(problem, size, threads);
  const sizeOfDq = { rows: size.rows, Sq, D: Dqk, heads: headsThatShare(forward) };
  const dqRows = dq && createQueryGradient(kernels, dq, sizeOfDq, results.dqParts);
  const dkHead = dk && createHeadGradient(kernels, dk, work.keys, Dqk);
  const dvHead = dv && createHeadGradient(kernels, dv, work.keys, Dv);
  const scoreGradients = createScoreGradients(forward, chain, results);
  const captureGradients = createCaptureGradients(forward, chain);
  const takers = [...scoreGradients, ...(captureGradients ? [captureGradients.take] : [])];
  const toProductGradient = softcap ? null : createProductGradient(forward, chain);
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
    const to = dvHead.at(j0);
    kernels.addTransposedProduct(
      columns,
      widthV,
      rows,
      weights.at,
      ld,
      dOT.panels,
      dOT.panelBytes,
      to,
      dvHead.ld,
      tiles.ranges(),
      j0,
      !dOT.isFinite(),
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
    for (const take of takers) take(dp.values, products, T, b, h, i0, rows, j0, columns);

    softcap?.differentiate(dp, rows);
    toProductGradient?.(dp.values, products, T, b, h, i0, rows, j0, columns);
    const forK = forward.fp8 ? roundScoreGradients(rows, columns) : dp;
    if (dqRows) {
      const guarded = !k.load(tile);
      const panels = k.rowsAt(tile);
      const bytes = k.rowPanelBytes;
      const to = dqRows.at();
      kernels.addProduct(rows, widthQ, columns, dp.at, ld, panels, bytes, to, dqRows.ld, ranges, j0, guarded);
    }
    if (dkHead) {
      const to = dkHead.at(j0);
      kernels.addTransposedProduct(
        columns,
        widthQ,
        rows,
        forK.at,
        ld,
        q.panels,
        q.panelBytes,
        to,
        dkHead.ld,
        ranges,
        j0,
        !q.isFinite(),
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

  function addSinkGradient(b: number, h: number, rows: number): void {
    if (!results.dsink || !sinks) return;
    for (let i = 0; i < rows; i++) {
      const lse = given.lse(i);
      if (lse !== -Infinity) results.dsink[b * Hq + h] -= Math.exp(sinks[h] - lse) * given.delta(i);
    }
  }

  function addRows(b: number, h: number, i0: number, rows: number, task: KeysTask): void {
    tiles.select(b, h, i0, rows, needsTiles ? task : NO_TILES);
    const first = tiles.firstTile();
    const end = tiles.endTile();
    if (first < end || task.firstTile === 0) given.load(b, h, i0, rows);
    if (task.firstTile === 0) addSinkGradient(b, h, rows);
    if (first < end) blocks?.load(b, h, i0, rows);
    dqRows?.start();
    for (const section of work.sections) {
      const to = Math.min(section.endTile, end);
      let t = Math.max(section.firstTile, first);
      if (t >= to) continue;
      dqRows?.startSection(section, task);
      for (; t < to; t++) addTile(b, h, i0, rows, t);
      dqRows?.endSection(rows);
    }
    dqRows?.store(task, h, i0, rows);
  }

  for (let n = claim(); n < work.count; n = claim()) {
    const task = work.task(n);
    const { b } = task;
    awaitHeads?.(task.group);
    const length = lengths.q.length(b);
    const from = task.firstTile * T;
    const to = Math.min(task.endTile * T, lengths.kv.length(b));
    for (let h = task.first; h < task.end; h++) {
      dkHead?.select(b, Math.floor(h / (Hq / Hk)), from, to);
      dvHead?.select(b, Math.floor(h / (Hq / Hv)), from, to);
      for (let i0 = 0; i0 < length; i0 += size.rows)
        addRows(b, h, i0, Math.min(size.rows, length - i0), task);
    }
    dqRows?.endTask(task, length);
  }
  dkHead?.finish();
  dvHead?.finish();

  return {
    dCaptures: captureGradients?.results() ?? null,
    amax: {
      ...(dq && { amaxDQ: dq.amax() }),
      ...(dk && { amaxDK: dk.amax() }),
      ...(dv && { amaxDV: dv.amax() }),
      amaxDP,
    },
  };
}
