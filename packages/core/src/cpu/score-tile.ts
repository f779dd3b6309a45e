import type { AttentionProblem, BroadcastDesc, Operands } from '../attention/problem.ts';
import type { Visibility } from '../attention/visibility.ts';
import type { ScoreChain } from '../score/score-chain.ts';
import { decodeTable } from '../tensor/decode-table.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { TileVisibility } from './tile-visibility.ts';

/** Turns a tile of scaled q·k into final scores, in place: row i0 + i and key j0 + j at `scores[i·ld + j]`. */
type FinishScores = (
  scores: Float32Array,
  ld: number,
  b: number,
  h: number,
  i0: number,
  rows: number,
  j0: number,
  columns: number,
) => void;

/**
 * Turns the tile of scaled q·k that the visibility last looked at into final scores. Within the ranges of the rows, what is not
 * seen becomes −Infinity; outside, anything may stand.
 */
export type FinishTile = (...tile: [...Parameters<FinishScores>, someHidden: boolean]) => void;

/** How the scores of a problem are finished: a bias in a tight loop, everything else pair by pair by the chain. */
export function createFinishTile(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  chain: ScoreChain,
  { rangesAreExact }: Pick<Visibility, 'rangesAreExact'>,
  { hide }: Pick<TileVisibility, 'hide'>,
): FinishTile {
  const { scoreMod, softcap, alibi, bias } = problem;
  if (scoreMod !== null || softcap !== null || alibi) {
    // A score mod may be undefined where nothing is seen: a table, say, that ends at the diagonal.
    return (scores, ld, b, h, i0, rows, j0, columns, someHidden) => {
      if (someHidden) hide(scores, ld);
      byChain(chain, scores, ld, b, h, i0, rows, j0, columns);
    };
  }
  const finish = bias && operands.bias ? byBias(bias, operands.bias) : null;
  return (scores, ld, b, h, i0, rows, j0, columns, someHidden) => {
    finish?.(scores, ld, b, h, i0, rows, j0, columns);
    if (someHidden && !rangesAreExact) hide(scores, ld);
  };
}

/** The loop stands here twice, so that neither of them asks for each element whether there is a table. */
function byBias({ dtype, strides }: BroadcastDesc, { data, offset }: Tensor): FinishScores {
  const [sb, sh, si, sj] = strides;
  if (data instanceof Float32Array) {
    return (scores, ld, b, h, i0, rows, j0, columns) => {
      for (let i = 0; i < rows; i++) {
        const source = offset + b * sb + h * sh + (i0 + i) * si + j0 * sj;
        for (let j = 0; j < columns; j++) {
          const added = data[source + j * sj];
          // A bias of −∞ is a mask, also of a product that is NaN.
          scores[i * ld + j] = added === -Infinity ? -Infinity : scores[i * ld + j] + added;
        }
      }
    };
  }
  const table = decodeTable(dtype);
  return (scores, ld, b, h, i0, rows, j0, columns) => {
    for (let i = 0; i < rows; i++) {
      const source = offset + b * sb + h * sh + (i0 + i) * si + j0 * sj;
      for (let j = 0; j < columns; j++) {
        const added = table[data[source + j * sj]];
        scores[i * ld + j] = added === -Infinity ? -Infinity : scores[i * ld + j] + added;
      }
    }
  };
}

function byChain(
  chain: ScoreChain,
  ...[scores, ld, b, h, i0, rows, j0, columns]: Parameters<FinishScores>
): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const at = i * ld + j;
      if (scores[at] === -Infinity) continue;
      const hidden = chain.bias(b, h, i0 + i, j0 + j) === -Infinity;
      scores[at] = hidden ? -Infinity : chain.final(scores[at], b, h, i0 + i, j0 + j);
    }
  }
}
