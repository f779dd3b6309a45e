import { required } from '../../../../attention/host/required.ts';
import type { Panel } from '../../../kernels/memory/memory.ts';
import { createBiasRows } from '../../../operands/broadcast-rows.ts';
import type { QueryTile } from '../../../operands/query-tile.ts';
import type { ScoreTile } from '../score-tile.ts';
import type { RowsContext, TileVisibility } from '../visibility.ts';
import type { ScoreModTile } from './score-mod.ts';
import type { SoftcapTile } from './softcap.ts';

/** Turns tiles of scaled q·k into final scores, in place. */
export interface FinishScores {
  /** Selects the rows that the ranges are set to. */
  select(queries: QueryTile): void;
  /**
   * Finishes the tile that the visibility last inspected, in rows that are `ld` bytes apart. Within the
   * ranges of the rows, hidden scores become −Infinity; outside the ranges, scores are undefined.
   */
  finish(scores: Panel, ld: number, tile: ScoreTile, someHidden: boolean): void;
}

/** Finishes the scores of a problem, stage by stage: score mod, softcap, bias, ALiBi and masks. */
export function createFinishScores(
  { problem, operands, kernels, size: { rows: maxRows }, keyRanges, ranges }: RowsContext,
  { hide }: Pick<TileVisibility, 'hide'>,
  scoreMod: ScoreModTile | null,
  softcap: SoftcapTile | null,
): FinishScores {
  const size = { rows: maxRows, Skv: problem.Skv };
  const bias = problem.bias && createBiasRows(kernels, problem.bias, required('bias', operands.bias), size);
  const slopes = problem.alibi ? required('alibi', operands.alibi).toFloat64() : null;

  /** A score mod may be undefined for hidden pairs, for example a table that ends at the diagonal. */
  function modify(mod: ScoreModTile, scores: Panel, ld: number, tile: ScoreTile): void {
    const { values } = scores;
    const { f32 } = kernels.memory;
    const [T, biasAt, biasLd] = [ld, bias?.at(tile.j0) ?? 0, bias?.ld ?? 0].map(bytes => bytes >> 2);
    const isHiddenByBias = (at: number): boolean =>
      f32[biasAt + Math.floor(at / T) * biasLd + (at % T)] === -Infinity;
    mod.apply(scores, tile, at => values[at] === -Infinity || (bias !== null && isHiddenByBias(at)));
  }

  return {
    select(queries) {
      bias?.select(queries, ranges.first(), ranges.end());
    },
    finish(scores, ld, tile, someHidden) {
      const { b, h, i0, rows, j0, columns } = tile;
      if (scoreMod) {
        if (someHidden) hide(scores, ld);
        modify(scoreMod, scores, ld, tile);
      }
      softcap?.cap(scores, rows);
      if (bias) kernels.addBias(rows, columns, scores.at, ld, bias.at(j0), bias.ld);
      if (slopes)
        kernels.addAlibi(rows, columns, scores.at, ld, slopes[h], i0 + keyRanges.diagonalOffset(b) - j0);
      if (someHidden) hide(scores, ld);
    },
  };
}
