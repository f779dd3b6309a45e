import type { AttentionProblem, Operands } from '../../../../attention/problem/problem.ts';
import { differentiate } from '../../../../expr/differentiate.ts';
import { compileRows } from '../../../../expr/evaluate/rows.ts';
import type { Tensor } from '../../../../tensor/tensor.ts';
import type { ScoreTiles } from '../../tiles/score-tiles.ts';
import type { TileSize } from '../../tiles/tile-size.ts';
import type { ConsumeTile } from './score-gradients.ts';

/**
 * Multiplies a tile of ds = ∂L/∂(modified score) by the derivative of the score mod, in place; null without a
 * score mod. A ds of 0 stays 0, whatever the score was.
 */
export function createProductGradient(
  { scoreMod }: AttentionProblem,
  { captures = {} }: Operands<Tensor>,
  { pairs, scoreMod: modified }: Pick<ScoreTiles, 'pairs' | 'scoreMod'>,
  { columns: T }: TileSize,
): ConsumeTile | null {
  if (!scoreMod || !modified) return null;
  const { products } = modified;
  const derivative = compileRows(differentiate(scoreMod), captures, T);
  return (ds, ld, tile) => {
    pairs.visit(tile, products, ld, row => {
      const { at, count } = row;
      const slope = derivative(row, n => ds[at + n] !== 0);
      for (let n = 0; n < count; n++) if (ds[at + n] !== 0) ds[at + n] *= slope[n];
    });
  };
}
