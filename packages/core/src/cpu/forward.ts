import type { AttentionProblem, Operands } from '../attention/problem.ts';
import type { SdpaResult } from '../engine/engine.ts';
import { dequantised } from '../mxfp8/dequantise.ts';
import { dropoutMaskOf } from '../score/dropout-mask.ts';
import { Tensor } from '../tensor/tensor.ts';
import { roundTile } from './fp8-tile.ts';
import { padded } from './kernels.ts';
import type { Machine } from './machine.ts';
import { typescriptKernels } from './matmul.ts';
import { toProbabilities } from './probabilities.ts';
import { createRowResult, createStatistic } from './results.ts';
import { createScaledResult } from './scaled-result.ts';
import { createScoreTiles } from './score-tiles.ts';
import { createOnlineSoftmax } from './softmax.ts';
import { tileSizeOf } from './tile-size.ts';
import { addWeightedRows } from './weighted-sum.ts';

/**
 * The forward results of a problem, tile by tile (FlashAttention, Dao et al. 2022, algorithm 1, with the rescaling of
 * FlashAttention-2): for each tile of queries, an online softmax over the tiles of keys that they see, while o accumulates
 * weighed by e^(s − m) and is divided by l at the end.
 *
 * In FP8 P is rounded after it is normalised, so o is summed in a second pass over the tiles, when lse is known. In MXFP8
 * e^(s − m) is, with the m of the tiles so far.
 */
export function forward(
  asked: AttentionProblem,
  given: Operands<Tensor>,
  { kernels = typescriptKernels, tiles: size = tileSizeOf(asked) }: Machine = {},
): SdpaResult<Tensor> {
  const { problem, operands } = dequantised(asked, given);
  // P is normalised before it is rounded, unless operands have block scales.
  const twoPasses = problem.fp8?.kind === 'scaled';
  const { B, Hq, Dv } = problem;
  const T = size.columns;
  const forms = { kRows: false, vRows: true, vColumns: false, products: false };
  const tiles = createScoreTiles(problem, operands, kernels, size, forms);
  const { lengths, scores, ld, v, keep, fp8 } = tiles;
  const softmax = createOnlineSoftmax(size.rows);
  const ldO = padded(Dv);
  const sums = kernels.allocate(size.rows * ldO);
  const sinks = operands.sink?.toFloat64();

  const plainO = createRowResult(problem.o, lengths.q, operands['raggedOffsets.o']);
  const o = createScaledResult(plainO, Dv, fp8.descaleS * fp8.descaleV, fp8.scaleO);
  const lse = createStatistic(problem, lengths.q, -Infinity);
  const max = problem.outputs.max ? createStatistic(problem, lengths.q, -Infinity) : null;
  const sumExp = problem.outputs.sumExp ? createStatistic(problem, lengths.q, 0) : null;

  const rowLse = new Float64Array(size.rows);
  let amaxS = 0;

  function addScores(b: number, h: number, i0: number, rows: number, tile: number): void {
    if (!tiles.compute(tile)) return;
    softmax.update(scores, ld, rows, tiles.columns(tile), sums, ldO, ldO);
    if (!twoPasses) addValues(b, h, i0, rows, tile);
  }

  /** The second pass of FP8. */
  function addRounded(b: number, h: number, i0: number, rows: number, tile: number): void {
    if (!tiles.compute(tile)) return;
    toProbabilities(scores, ld, rows, tiles.columns(tile), rowLse);
    addValues(b, h, i0, rows, tile);
  }

  function addValues(b: number, h: number, i0: number, rows: number, tile: number): void {
    const j0 = tile * T;
    const columns = tiles.columns(tile);
    if (keep) {
      keep.load(b, h, i0, rows, j0, columns);
      keep.drop(scores, ld, rows, columns);
    }
    if (problem.fp8) amaxS = Math.max(amaxS, roundTile(scores, ld, rows, columns, fp8, fp8.scaleS));
    const add = v.load(tile) ? kernels.multiply : addWeightedRows;
    add(rows, ldO, columns, scores, 0, ld, 1, v.rows, j0 * ldO, ldO, sums, 0, ldO, true);
  }

  function finishStatistics(rows: number): void {
    const { m, l } = softmax;
    for (let i = 0; i < rows; i++) rowLse[i] = l[i] === 0 ? -Infinity : m[i] + Math.log(l[i]);
  }

  function storeRows(b: number, h: number, i0: number, rows: number): void {
    const { m, l } = softmax;
    for (let i = 0; i < rows; i++) {
      if (l[i] === 0) continue;
      if (!twoPasses) for (let d = 0; d < Dv; d++) sums[i * ldO + d] /= l[i];
      lse.set(b, h, i0 + i, rowLse[i]);
      max?.set(b, h, i0 + i, m[i]);
      sumExp?.set(b, h, i0 + i, l[i]);
    }
    o.store(b, h, i0, rows, sums, 0, ldO);
  }

  for (let b = 0; b < B; b++) {
    const length = lengths.q.length(b);
    for (let h = 0; h < Hq; h++) {
      for (let i0 = 0; i0 < length; i0 += size.rows) {
        const rows = Math.min(size.rows, length - i0);
        tiles.select(b, h, i0, rows);
        softmax.start(rows, sinks ? sinks[h] : -Infinity);
        sums.fill(0);
        const [first, end] = [tiles.firstTile(), tiles.endTile()];
        for (let t = first; t < end; t++) addScores(b, h, i0, rows, t);
        finishStatistics(rows);
        if (twoPasses) for (let t = first; t < end; t++) addRounded(b, h, i0, rows, t);
        storeRows(b, h, i0, rows);
      }
    }
  }

  return {
    o: o.tensor,
    lse: lse.tensor,
    ...(max && { max: max.tensor }),
    ...(sumExp && { sumExp: sumExp.tensor }),
    ...(problem.outputs.dropoutMask && { dropoutMask: dropoutMaskOf(problem, operands) }),
    ...(problem.outputs.amaxS && { amaxS: Tensor.from([amaxS], [1]) }),
    ...(problem.outputs.amaxO && { amaxO: Tensor.from([o.amax()], [1]) }),
  };
}
