import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { padded, STRIP } from '../../kernels/interface/panel.ts';
import type { Panel } from '../../kernels/memory/memory.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import { createRowResult } from '../../operands/row-result.ts';
import { createScaledResult } from '../../operands/scaled-result.ts';
import type { ScoreTile } from '../tiles/score-tile.ts';
import type { ScoreTiles } from '../tiles/score-tiles.ts';
import { roundTile } from '../tiles/stages/fp8.ts';
import type { TileSize } from '../tiles/tile-size.ts';
import type { ForwardAmax } from './forward-results.ts';

/** The rows of o of a query tile, as sums of values in f32. */
export interface OutputSums {
  readonly panel: Panel;
  /** The numbers of a row, and the bytes from one row to the next. */
  readonly width: number;
  readonly ld: number;
  /** Adds the weights of a tile, which have replaced its scores, times its values. */
  add(tile: ScoreTile): void;
  /** Stores the rows of a query tile. */
  store(queries: QueryTile): void;
  /** The largest magnitudes of P and o, for FP8 problems. */
  amax(): ForwardAmax;
}

/** The sums of a problem whose operands are dequantised, for tiles of its scores. */
export function createOutputSums(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  kernels: Kernels,
  { rows: maxRows, columns: T }: TileSize,
  tiles: ScoreTiles,
  result: Tensor,
): OutputSums {
  const { lengths, scores, ld: ldScores, v, dropout, fp8 } = tiles;
  const { Dv } = problem;
  const width = padded(Dv);
  const ld = 4 * width;
  const panel = kernels.memory.floats(Math.ceil(maxRows / STRIP) * STRIP * width);
  const plain = createRowResult(kernels, result, problem.o, lengths.q, operands['raggedOffsets.o']);
  const descale = fp8.descaleS * fp8.descaleV;
  const o = createScaledResult(kernels, plain, Dv, {
    descale,
    scale: fp8.scaleO,
    hasAmax: problem.fp8 !== null,
  });
  let amaxS = 0;
  return {
    panel,
    width,
    ld,
    add(tile) {
      const { rows, columns, j0, index } = tile;
      const { at } = scores;
      if (dropout) {
        dropout.load(tile);
        dropout.drop(at, at, ldScores, rows, columns);
      }
      if (problem.fp8) amaxS = Math.max(amaxS, roundTile(scores.values, T, rows, columns, fp8, fp8.scaleS));
      const guarded = !v.load(index);
      const [values, bytes] = [v.rowsAt(index), v.rowPanelBytes];
      const ranges = tiles.ranges();
      kernels.addProduct(
        rows,
        width,
        columns,
        at,
        ldScores,
        values,
        bytes,
        panel.at,
        ld,
        ranges,
        j0,
        guarded,
      );
    },
    store({ b, h, i0, rows }) {
      o.store(b, h, i0, rows, panel.at);
    },
    amax: () => ({ amaxS, amaxO: o.amax() }),
  };
}
