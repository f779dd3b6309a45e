import type { AttentionProblem, BroadcastDesc, Operands } from '../attention/problem.ts';
import type { ScoreChain } from '../score/score-chain.ts';
import { dtypeInfo } from '../tensor/dtype.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { TileVisibility } from './tile-visibility.ts';

/** Turns a tile of q·k into final scores, in place: row i0 + i and key j0 + j at `scores[i·ld + j]`. */
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

/** Turns the tile of q·k that the visibility last looked at into final scores; what is not seen becomes −Infinity. */
export type FinishTile = (...tile: [...Parameters<FinishScores>, someHidden: boolean]) => void;

/** How the scores of a problem are finished: scale and bias in tight loops, everything else pair by pair by the chain. */
export function createFinishTile(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  chain: ScoreChain,
  { hide }: Pick<TileVisibility, 'hide'>,
): FinishTile {
  const { scale, scoreMod, softcap, alibi, bias } = problem;
  if (scoreMod !== null || softcap !== null || alibi) {
    const finish = byChain(scale, chain);
    // A score mod may be undefined where nothing is seen: a table, say, that ends at the diagonal.
    return (scores, ld, b, h, i0, rows, j0, columns, someHidden) => {
      if (someHidden) hide(scores, ld);
      finish(scores, ld, b, h, i0, rows, j0, columns);
    };
  }
  const finish = bias && operands.bias ? byScaleAndBias(scale, bias, operands.bias) : byScale(scale);
  return (scores, ld, b, h, i0, rows, j0, columns, someHidden) => {
    finish(scores, ld, b, h, i0, rows, j0, columns);
    if (someHidden) hide(scores, ld);
  };
}

function byScale(scale: number): FinishScores {
  return (scores, ld, _b, _h, _i0, rows, _j0, columns) => {
    for (let i = 0; i < rows; i++) {
      for (let at = i * ld; at < i * ld + columns; at++) scores[at] *= scale;
    }
  };
}

function byScaleAndBias(scale: number, desc: BroadcastDesc, { data, offset }: Tensor): FinishScores {
  const { decode } = dtypeInfo[desc.dtype];
  const [sb, sh, si, sj] = desc.strides;
  return (scores, ld, b, h, i0, rows, j0, columns) => {
    for (let i = 0; i < rows; i++) {
      const source = offset + b * sb + h * sh + (i0 + i) * si + j0 * sj;
      for (let j = 0; j < columns; j++) {
        const at = i * ld + j;
        const added = decode(data[source + j * sj]);
        // A bias of −∞ is a mask, also of a product that is NaN.
        scores[at] = added === -Infinity ? -Infinity : scale * scores[at] + added;
      }
    }
  };
}

function byChain(scale: number, chain: ScoreChain): FinishScores {
  return (scores, ld, b, h, i0, rows, j0, columns) => {
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        const at = i * ld + j;
        if (scores[at] === -Infinity) continue;
        const hidden = chain.bias(b, h, i0 + i, j0 + j) === -Infinity;
        scores[at] = hidden ? -Infinity : chain.final(scale * scores[at], b, h, i0 + i, j0 + j);
      }
    }
  };
}
