import { dequantised } from '../../../attention/host/dequantise.ts';
import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import type { PassContext } from '../pass-context.ts';
import { type Claim, forwardTasks } from '../tasks.ts';
import { createScoreTiles } from '../tiles/score-tiles.ts';
import { tileSizeOf } from '../tiles/tile-size.ts';
import type { ForwardAmax, ForwardResults } from './forward-results.ts';
import { hasOneQuery, runOneQuery } from './one-query.ts';
import { createOutputSums } from './output-sums.ts';
import { createRowStatistics } from './row-statistics.ts';
import { createRunningSoftmax } from './running-softmax.ts';

/**
 * Computes the claimed tasks of a problem's forward pass: by the kernels of decoding or of small heads if
 * they can run the problem, and otherwise tile by tile.
 */
export function runForward(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  context: PassContext,
  results: ForwardResults,
  claim: Claim,
): ForwardAmax {
  const { kernels, smallHeads } = context;
  if (kernels.matrices && hasOneQuery(problem)) {
    runOneQuery(problem, operands, kernels.matrices, context, results, claim);
    return { amaxS: 0, amaxO: 0 };
  }
  if (smallHeads?.forward(problem, operands, kernels, results)) return { amaxS: 0, amaxO: 0 };
  return runTiles(problem, operands, context, results, claim);
}

/**
 * Forward tile by tile (FlashAttention, Dao et al. 2022, algorithm 1, with the rescaling of
 * FlashAttention-2): for each tile of queries, an online softmax runs over the tiles of keys that they see,
 * while o accumulates values weighted by e^(s − m) and is divided by l at the end.
 *
 * In FP8, P is rounded after it is normalised, so o is summed in a second pass over the tiles, when lse is
 * known. In MXFP8, e^(s − m) is rounded, with the m of the tiles so far.
 */
function runTiles(
  asked: AttentionProblem,
  given: Operands<Tensor>,
  { kernels, tiles: size = tileSizeOf(asked), threads = 1, awaitHeads }: PassContext,
  results: ForwardResults,
  claim: Claim,
): ForwardAmax {
  const { problem, operands } = dequantised(asked, given);
  // P is normalised before it is rounded, unless operands have block scales.
  const twoPasses = problem.fp8?.kind === 'scaled';
  const { memory } = kernels;
  memory.reset();
  const forms = { kRows: false, vRows: true, vColumns: false, qPanels: false, derivatives: false };
  const tiles = createScoreTiles(problem, operands, kernels, size, forms);
  const { lengths, scores, ld } = tiles;
  const softmax = createRunningSoftmax(memory, size.rows);
  const o = createOutputSums(problem, operands, kernels, size, tiles, results.o);
  const statistics = createRowStatistics(problem, results, lengths.q, memory, softmax, size.rows);
  const sinks = operands.sink?.toFloat64();

  function addScores(index: number): void {
    const tile = tiles.compute(index);
    if (!tile) return;
    const { rows, columns, j0 } = tile;
    const [m, l, ranges] = [softmax.largest.at, softmax.sum.at, tiles.ranges()];
    kernels.updateSoftmax(rows, columns, scores.at, ld, m, l, o.panel.at, o.ld, o.width, ranges, j0);
    if (!twoPasses) o.add(tile);
  }

  /** The second pass of FP8. */
  function addRounded(index: number): void {
    const tile = tiles.compute(index);
    if (!tile) return;
    const { rows, columns, j0 } = tile;
    kernels.toProbabilities(rows, columns, scores.at, ld, statistics.lse.at, tiles.ranges(), j0);
    o.add(tile);
  }

  function addRows(queries: QueryTile): void {
    const { h, rows } = queries;
    const { firstTile, endTile } = tiles.select(queries);
    softmax.start(rows, sinks ? sinks[h] : -Infinity);
    o.panel.values.fill(0);
    for (let t = firstTile; t < endTile; t++) addScores(t);
    statistics.finish(rows);
    if (twoPasses) for (let t = firstTile; t < endTile; t++) addRounded(t);
    else kernels.divideRows(rows, o.width, o.panel.at, o.ld, softmax.sum.at);
    statistics.store(queries);
    o.store(queries);
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
  return o.amax();
}
