import { required } from '../../attention/host/required.ts';
import type { Visibility } from '../../attention/host/visibility.ts';
import type { AttentionProblem, Operands } from '../../attention/problem/problem.ts';
import type { ScoreChain } from '../../score/score-chain.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Panel } from '../kernels/memory.ts';
import { createBiasRows } from '../operands/broadcast-rows.ts';
import type { RowRanges } from './row-ranges.ts';
import type { SoftcapTile } from './softcap.ts';
import type { TileSize } from './tile-size.ts';
import type { TileVisibility } from './visibility.ts';

/** Turns tiles of scaled q·k into final scores, in place. */
export interface FinishScores {
  /** Turns to the rows that the ranges are on: `rows` queries from i0 of head h of sequence b. */
  select(b: number, h: number, i0: number, rows: number): void;
  /**
   * Finishes the tile that the visibility last looked at: row i0 + i and key j0 + j, rows `ld` bytes apart. Within the ranges of
   * the rows, what is not seen becomes −Infinity; outside, anything may stand.
   */
  finish(scores: Panel, ld: number, j0: number, columns: number, someHidden: boolean): void;
}

/** How the scores of a problem are finished: by the kernels, or pair by pair by the chain where it has a score mod, or softcap without kernels. */
export function createFinishScores(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  chain: ScoreChain,
  { diagonalOffset }: Pick<Visibility, 'diagonalOffset'>,
  { hide, hideOutside }: Pick<TileVisibility, 'hide' | 'hideOutside'>,
  softcapTile: SoftcapTile | null,
  ranges: RowRanges,
  kernels: Kernels,
  { rows: maxRows }: TileSize,
): FinishScores {
  const { scoreMod, softcap, alibi, Skv } = problem;
  const size = { rows: maxRows, Skv };
  const byPairs = scoreMod !== null || (softcap !== null && !softcapTile);
  const bias =
    problem.bias && !byPairs
      ? createBiasRows(kernels, problem.bias, required('bias', operands.bias), size)
      : null;
  const slopes = alibi && !byPairs ? required('alibi', operands.alibi).toFloat64() : null;
  let b = 0;
  let h = 0;
  let i0 = 0;
  let rows = 0;

  function finishPairs({ values }: Panel, ld: number, j0: number, columns: number): void {
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
    select(nextB, nextH, nextI0, nextRows) {
      b = nextB;
      h = nextH;
      i0 = nextI0;
      rows = nextRows;
      bias?.select(b, h, i0, rows, ranges.first(), ranges.end());
    },
    finish(scores, ld, j0, columns, someHidden) {
      if (byPairs) {
        // A score mod may be undefined where nothing is seen: a table, say, that ends at the diagonal.
        if (someHidden) {
          hide(scores, ld);
          hideOutside(scores, ld);
        }
        finishPairs(scores, ld, j0, columns);
        return;
      }
      softcapTile?.cap(scores, rows);
      if (bias) kernels.addBias(rows, columns, scores.at, ld, bias.at(j0), bias.ld);
      if (slopes) kernels.addAlibi(rows, columns, scores.at, ld, slopes[h], i0 + diagonalOffset(b) - j0);
      if (someHidden) hide(scores, ld);
    },
  };
}
