import { dequantised } from '../../../attention/host/dequantise.ts';
import type { BackwardOperands, BackwardProblem } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import type { PassContext } from '../pass-context.ts';
import { backwardTasks, type Claim, headsThatShare, type KeysTask } from '../tasks.ts';
import { type TileRange, tileSizeOf, wholeBlocks } from '../tiles/tile-size.ts';
import { createCaptureGradients } from './gradients/capture-gradients.ts';
import { createGradientResults } from './gradients/gradient-results.ts';
import { createHeadGradient } from './gradients/head-gradient.ts';
import { createProductGradient } from './gradients/product-gradient.ts';
import { createQueryGradient } from './gradients/query-gradient.ts';
import { createScoreGradients } from './gradients/score-gradients.ts';
import { createScoreStage } from './gradients/score-stage.ts';
import { createValueGradient } from './gradients/value-gradient.ts';
import { createBackwardInputs } from './inputs/inputs.ts';
import type { BackwardExtras, BackwardSums } from './sums.ts';

const NO_TILES: TileRange = { firstTile: 0, endTile: 0 };

/**
 * Computes the claimed tasks of a problem's backward pass, tile by tile (FlashAttention-2, Dao 2023,
 * algorithm 2, with queries in the outer loop): p is recomputed from lse, and one pass of five products gives
 * dq of a tile of queries and adds to dk and dv of the head. All sums have a fixed order, so that two runs
 * agree bit by bit.
 */
export function runBackward(
  asked: BackwardProblem,
  givenOperands: BackwardOperands<Tensor>,
  { kernels, tiles: askedSize = tileSizeOf(asked.forward), threads = 1, smallHeads, awaitHeads }: PassContext,
  sums: BackwardSums,
  claim: Claim,
): BackwardExtras {
  if (smallHeads?.backward(asked, givenOperands, kernels, sums)) {
    return { dCaptures: null, amax: { amaxDQ: 0, amaxDK: 0, amaxDV: 0, amaxDP: 0 } };
  }
  const { problem: forward, operands } = dequantised(asked.forward, givenOperands);
  const problem = { ...asked, forward };
  const size = forward.fp8?.kind === 'dequantised' ? wholeBlocks(askedSize) : askedSize;
  const { Hq, Hk, Hv, Sq, Dqk, Dv } = forward;
  const T = size.columns;
  kernels.memory.reset();
  const inputs = createBackwardInputs(problem, operands, kernels, size);
  const { tiles, rows: given, blocks } = inputs;
  const { lengths, dropout } = tiles;
  const { dq, dk, dv } = createGradientResults(problem, operands, inputs, sums);
  const work = backwardTasks(asked, size, threads);
  const sizeOfDq = { rows: size.rows, Sq, D: Dqk, heads: headsThatShare(forward) };
  const dqRows = dq && createQueryGradient(kernels, dq, sizeOfDq, sums.dqParts);
  const dkHead = dk && createHeadGradient(kernels, dk, work.keys, Dqk);
  const dvHead = dv && createHeadGradient(kernels, dv, work.keys, Dv);
  const captures = createCaptureGradients(forward, operands, tiles, size);
  const toProductGradient = createProductGradient(forward, operands, tiles, size);
  const consumers = {
    final: createScoreGradients(forward, tiles.keyRanges, sums),
    modified: [...(captures ? [captures.add] : []), ...(toProductGradient ? [toProductGradient] : [])],
  };
  const needsScores = dq !== null || dk !== null || consumers.final.length > 0 || captures !== null;
  const scoreStage = needsScores ? createScoreStage(forward, inputs, dqRows, dkHead, consumers) : null;
  const addValueGradient = dvHead && createValueGradient(forward, inputs, dvHead);
  const sinks = operands.sink?.toFloat64();

  function addTile(index: number): void {
    const tile = tiles.compute(index);
    if (!tile) return;
    const { rows, columns, j0 } = tile;
    kernels.toProbabilities(rows, columns, tiles.scores.at, tiles.ld, given.lseAt, tiles.ranges(), j0);
    dropout?.load(tile);
    addValueGradient?.(tile);
    scoreStage?.add(tile);
  }

  function addSinkGradient({ b, h, rows }: QueryTile): void {
    if (!sums.dsink || !sinks) return;
    for (let i = 0; i < rows; i++) {
      const lse = given.lse(i);
      if (lse !== -Infinity) sums.dsink[b * Hq + h] -= Math.exp(sinks[h] - lse) * given.delta(i);
    }
  }

  function addRows(queries: QueryTile, task: KeysTask): void {
    const { firstTile, endTile } = tiles.select(queries, scoreStage || addValueGradient ? task : NO_TILES);
    if (firstTile < endTile || task.firstTile === 0) given.load(queries);
    if (task.firstTile === 0) addSinkGradient(queries);
    if (firstTile < endTile) blocks?.load(queries);
    dqRows?.start();
    for (const section of work.sections) {
      const to = Math.min(section.endTile, endTile);
      let t = Math.max(section.firstTile, firstTile);
      if (t >= to) continue;
      dqRows?.startSection(section, task);
      for (; t < to; t++) addTile(t);
      dqRows?.endSection(queries.rows);
    }
    dqRows?.store(task, queries);
  }

  for (let n = claim(); n < work.tasks.length; n = claim()) {
    const task = work.tasks[n];
    const { b } = task;
    awaitHeads?.(task.group);
    const length = lengths.q.length(b);
    const from = task.firstTile * T;
    const to = Math.min(task.endTile * T, lengths.kv.length(b));
    for (let h = task.first; h < task.end; h++) {
      dkHead?.select(b, Math.floor(h / (Hq / Hk)), from, to);
      dvHead?.select(b, Math.floor(h / (Hq / Hv)), from, to);
      for (let i0 = 0; i0 < length; i0 += size.rows) {
        addRows({ b, h, i0, rows: Math.min(size.rows, length - i0) }, task);
      }
    }
    dqRows?.endTask(task, length);
  }
  dkHead?.finish();
  dvHead?.finish();

  return {
    dCaptures: captures?.results() ?? null,
    amax: {
      ...(dq && { amaxDQ: dq.amax() }),
      ...(dk && { amaxDK: dk.amax() }),
      ...(dv && { amaxDV: dv.amax() }),
      amaxDP: scoreStage?.amax() ?? 0,
    },
  };
}
