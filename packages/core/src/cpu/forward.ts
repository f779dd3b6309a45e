import type { AttentionProblem, Operands } from '../attention/problem.ts';
import type { SdpaResult } from '../engine/engine.ts';
import { dropoutMaskOf } from '../score/dropout-mask.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { padded } from './kernels.ts';
import type { Machine } from './machine.ts';
import { typescriptKernels } from './matmul.ts';
import { createRowResult, createStatistic } from './results.ts';
import { createScoreTiles } from './score-tiles.ts';
import { createOnlineSoftmax } from './softmax.ts';
import { tileSizeOf } from './tile-size.ts';
import { addWeightedRows } from './weighted-sum.ts';

/**
 * The forward results of a problem, tile by tile (FlashAttention, Dao et al. 2022, algorithm 1, with the rescaling of
 * FlashAttention-2): for each tile of queries, an online softmax over the tiles of keys that they see, while o accumulates
 * weighed by e^(s − m) and is divided by l at the end.
 */
export function forward(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  { kernels = typescriptKernels, tiles: size = tileSizeOf(problem) }: Machine = {},
): SdpaResult<Tensor> {
  const { B, Hq, Dv } = problem;
  const T = size.columns;
  const forms = { kRows: false, vRows: true, vColumns: false, products: false };
  const tiles = createScoreTiles(problem, operands, kernels, size, forms);
  const { lengths, scores, ld, v, keep } = tiles;
  const softmax = createOnlineSoftmax(size.rows);
  const ldO = padded(Dv);
  const sums = kernels.allocate(size.rows * ldO);
  const sinks = operands.sink?.toFloat64();

  const o = createRowResult(problem, problem.o, lengths.q);
  const lse = createStatistic(problem, lengths.q, -Infinity);
  const max = problem.outputs.max ? createStatistic(problem, lengths.q, -Infinity) : null;
  const sumExp = problem.outputs.sumExp ? createStatistic(problem, lengths.q, 0) : null;

  function addTile(b: number, h: number, i0: number, rows: number, tile: number): void {
    if (!tiles.compute(tile)) return;
    const j0 = tile * T;
    const columns = tiles.columns(tile);
    softmax.update(scores, ld, rows, columns, sums, ldO, ldO);
    if (keep) {
      keep.load(b, h, i0, rows, j0, columns);
      keep.drop(scores, ld, rows, columns);
    }
    const add = v.load(tile) ? kernels.multiply : addWeightedRows;
    add(rows, ldO, columns, scores, 0, ld, 1, v.rows, j0 * ldO, ldO, sums, 0, ldO, true);
  }

  function storeRows(b: number, h: number, i0: number, rows: number): void {
    const { m, l } = softmax;
    for (let i = 0; i < rows; i++) {
      if (l[i] === 0) continue;
      for (let d = 0; d < Dv; d++) sums[i * ldO + d] /= l[i];
      lse.set(b, h, i0 + i, m[i] + Math.log(l[i]));
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
        for (let t = tiles.firstTile(); t < tiles.endTile(); t++) addTile(b, h, i0, rows, t);
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
  };
}
