import { dequantised } from '../../../attention/host/dequantise.ts';
import type { AttentionProblem, ForwardAmaxName, Operands } from '../../../attention/problem/problem.ts';
import type { SdpaResult } from '../../../engine/engine.ts';
import { dropoutMaskOf } from '../../../score/dropout-mask.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { padded, STRIP } from '../../kernels/interface/panel.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import { allocateTensor, createRowResult, createStatistic } from '../../operands/row-result.ts';
import { createScaledResult } from '../../operands/scaled-result.ts';
import type { PassContext } from '../pass-context.ts';
import { type Claim, forwardTasks, inOrder } from '../tasks.ts';
import { roundTile } from '../tiles/fp8.ts';
import type { ScoreTile } from '../tiles/score-tile.ts';
import { createScoreTiles } from '../tiles/score-tiles.ts';
import { tileSizeOf } from '../tiles/tile-size.ts';
import { allocateForward, type ForwardResults } from './forward-results.ts';
import { hasOneQuery, runOneQuery } from './one-query.ts';
import { createRunningSoftmax } from './running-softmax.ts';

/** The forward results of a problem; `into` has existing tensors to write to. */
export function forward(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  context: PassContext,
  into?: Partial<ForwardResults>,
): SdpaResult<Tensor> {
  const results = allocateForward(problem, allocateTensor, into);
  const amax = runForward(problem, operands, context, results, inOrder());
  return forwardResult(problem, operands, results, amax);
}

/** All results that a caller requested. */
export function forwardResult(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  { o, lse, max, sumExp }: ForwardResults,
  amax: ForwardAmax,
): SdpaResult<Tensor> {
  const { outputs } = problem;
  const result: { -readonly [R in keyof SdpaResult<Tensor>]: SdpaResult<Tensor>[R] } = { o, lse };
  if (max) result.max = max;
  if (sumExp) result.sumExp = sumExp;
  if (outputs.dropoutMask) result.dropoutMask = dropoutMaskOf(problem, operands);
  if (outputs.amaxS) result.amaxS = Tensor.from([amax.amaxS], [1]);
  if (outputs.amaxO) result.amaxO = Tensor.from([amax.amaxO], [1]);
  return result;
}

/** The largest magnitudes among the values that a thread has computed, for FP8 problems. */
export type ForwardAmax = Readonly<Record<ForwardAmaxName, number>>;

/**
 * Computes the claimed tasks of a problem's forward pass, tile by tile (FlashAttention, Dao et al. 2022,
 * algorithm 1, with the rescaling of FlashAttention-2): for each tile of queries, an online softmax runs over
 * the tiles of keys that they see, while o accumulates values weighted by e^(s − m) and is divided by l at
 * the end.
 *
 * In FP8, P is rounded after it is normalised, so o is summed in a second pass over the tiles, when lse is
 * known. In MXFP8, e^(s − m) is rounded, with the m of the tiles so far.
 */
export function runForward(
  asked: AttentionProblem,
  given: Operands<Tensor>,
  { kernels, tiles: size = tileSizeOf(asked), threads = 1, smallHeads, awaitHeads }: PassContext,
  results: ForwardResults,
  claim: Claim,
): ForwardAmax {
  if (kernels.matrices && hasOneQuery(asked)) {
    runOneQuery(asked, given, kernels, kernels.matrices, { kernels, threads, awaitHeads }, results, claim);
    return { amaxS: 0, amaxO: 0 };
  }
  if (smallHeads?.forward(asked, given, kernels, results)) return { amaxS: 0, amaxO: 0 };
  const { problem, operands } = dequantised(asked, given);
  // P is normalised before it is rounded, unless operands have block scales.
  const twoPasses = problem.fp8?.kind === 'scaled';
  const { Dv } = problem;
  const T = size.columns;
  const { memory } = kernels;
  memory.reset();
  const forms = { kRows: false, vRows: true, vColumns: false, qPanels: false, derivatives: false };
  const tiles = createScoreTiles(problem, operands, kernels, size, forms);
  const { lengths, scores, ld, v, keep, fp8 } = tiles;
  const softmax = createRunningSoftmax(memory, size.rows);
  const width = padded(Dv);
  const ldO = 4 * width;
  const sums = memory.floats(Math.ceil(size.rows / STRIP) * STRIP * width);
  const sinks = operands.sink?.toFloat64();

  const plainO = createRowResult(kernels, results.o, problem.o, lengths.q, operands['raggedOffsets.o']);
  const descaleO = fp8.descaleS * fp8.descaleV;
  const o = createScaledResult(kernels, plainO, Dv, descaleO, fp8.scaleO, problem.fp8 !== null);
  const setLse = createStatistic(results.lse, problem, lengths.q);
  const setMax = results.max && createStatistic(results.max, problem, lengths.q);
  const setSumExp = results.sumExp && createStatistic(results.sumExp, problem, lengths.q);

  const rowLse = memory.floats(size.rows);
  let amaxS = 0;

  function addScores(index: number): void {
    const tile = tiles.compute(index);
    if (!tile) return;
    const { largest, sum } = softmax;
    const { rows, columns, j0 } = tile;
    const ranges = tiles.ranges();
    kernels.updateSoftmax(rows, columns, scores.at, ld, largest.at, sum.at, sums.at, ldO, width, ranges, j0);
    if (!twoPasses) addValues(tile);
  }

  /** The second pass of FP8. */
  function addRounded(index: number): void {
    const tile = tiles.compute(index);
    if (!tile) return;
    kernels.toProbabilities(tile.rows, tile.columns, scores.at, ld, rowLse.at, tiles.ranges(), tile.j0);
    addValues(tile);
  }

  function addValues(tile: ScoreTile): void {
    const { rows, columns, j0, index } = tile;
    if (keep) {
      keep.load(tile);
      keep.drop(scores.at, scores.at, ld, rows, columns);
    }
    if (problem.fp8) amaxS = Math.max(amaxS, roundTile(scores.values, T, rows, columns, fp8, fp8.scaleS));
    const guarded = !v.load(index);
    const ranges = tiles.ranges();
    const at = v.rowsAt(index);
    const bytes = v.rowPanelBytes;
    kernels.addProduct(rows, width, columns, scores.at, ld, at, bytes, sums.at, ldO, ranges, j0, guarded);
  }

  function finishStatistics(rows: number): void {
    const { values } = rowLse;
    const { values: m } = softmax.largest;
    const { values: l } = softmax.sum;
    for (let i = 0; i < rows; i++) values[i] = l[i] === 0 ? -Infinity : m[i] + Math.log(l[i]);
  }

  function storeRows({ b, h, i0, rows }: QueryTile): void {
    const { largest, sum } = softmax;
    setLse(b, h, i0, rowLse.values.subarray(0, rows));
    setMax?.(b, h, i0, largest.values.subarray(0, rows));
    setSumExp?.(b, h, i0, sum.values.subarray(0, rows));
    if (!twoPasses) kernels.divideRows(rows, width, sums.at, ldO, sum.at);
    o.store(b, h, i0, rows, sums.at);
  }

  function addRows(queries: QueryTile): void {
    const { firstTile, endTile } = tiles.select(queries);
    softmax.start(queries.rows, sinks ? sinks[queries.h] : -Infinity);
    sums.values.fill(0);
    for (let t = firstTile; t < endTile; t++) addScores(t);
    finishStatistics(queries.rows);
    if (twoPasses) for (let t = firstTile; t < endTile; t++) addRounded(t);
    storeRows(queries);
  }

  const tasks = forwardTasks(problem, size, threads);
  for (let n = claim(); n < tasks.length; n = claim()) {
    const { group, b, first, end: endHead, from, to } = tasks[n];
    awaitHeads?.(group);
    const end = Math.min(to, lengths.q.length(b));
    for (let h = first; h < endHead; h++) {
      for (let i0 = from; i0 < end; i0 += size.rows) {
        addRows({ b, h, i0, rows: Math.min(size.rows, end - i0) });
      }
    }
  }
  return { amaxS, amaxO: o.amax() };
}
