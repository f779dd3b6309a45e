import { required } from '../../../attention/host/required.ts';
import type { ScoreChain } from '../../../score/score-chain.ts';
import type { Panel } from '../../kernels/memory/memory.ts';
import { createBiasRows } from '../../operands/broadcast-rows.ts';
import type { QueryTile } from '../../operands/query-tile.ts';
import type { ScoreTile } from './score-tile.ts';
import type { SoftcapTile } from './softcap.ts';
import type { RowsContext, TileVisibility } from './visibility.ts';

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

/**
 * Finishes the scores of a problem: with the kernels, or pair by pair with the chain if there is a score mod,
 * or a softcap that the kernels do not compute.
 */
export function createFinishScores(
  { problem, operands, kernels, size: { rows: maxRows }, visibility, ranges }: RowsContext,
  chain: ScoreChain,
  { hide, hideOutside }: Pick<TileVisibility, 'hide' | 'hideOutside'>,
  softcapTile: SoftcapTile | null,
): FinishScores {
  const { scoreMod, softcap, alibi, Skv } = problem;
  const size = { rows: maxRows, Skv };
  const byPairs = scoreMod !== null || (softcap !== null && !softcapTile);
  const bias =
    problem.bias && !byPairs
      ? createBiasRows(kernels, problem.bias, required('bias', operands.bias), size)
      : null;
  const slopes = alibi && !byPairs ? required('alibi', operands.alibi).toFloat64() : null;
  function finishPairs({ values }: Panel, ld: number, { b, h, i0, rows, j0, columns }: ScoreTile): void {
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        const at = ((i * ld) >> 2) + j;
        if (values[at] === -Infinity) continue;
        const hidden = chain.bias(b, h, i0 + i, j0 + j) === -Infinity;
        values[at] = hidden ? -Infinity : chain.final(values[at], b, h, i0 + i, j0 + j);
      }
    }
  }

  return {
    select(queries) {
      bias?.select(queries, ranges.first(), ranges.end());
    },
    finish(scores, ld, tile, someHidden) {
      const { b, h, i0, rows, j0, columns } = tile;
      if (byPairs) {
        // A score mod may be undefined for hidden pairs, for example a table that ends at the diagonal.
        if (someHidden) {
          hide(scores, ld);
          hideOutside(scores, ld);
        }
        finishPairs(scores, ld, tile);
        return;
      }
      softcapTile?.cap(scores, rows);
      if (bias) kernels.addBias(rows, columns, scores.at, ld, bias.at(j0), bias.ld);
      if (slopes)
        kernels.addAlibi(rows, columns, scores.at, ld, slopes[h], i0 + visibility.diagonalOffset(b) - j0);
      if (someHidden) hide(scores, ld);
    },
  };
}
