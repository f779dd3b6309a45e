import type { AttentionProblem, Operands } from '../../../../attention/problem/problem.ts';
import { compileRows } from '../../../../expr/evaluate/rows.ts';
import type { Tensor } from '../../../../tensor/tensor.ts';
import type { Panel } from '../../../kernels/memory/memory.ts';
import type { PairRows } from '../pair-rows.ts';
import type { ScoreTile } from '../score-tile.ts';
import { paddedElements, type TileSize } from '../tile-size.ts';

/** The score mod on one tile at a time, for tiles whose rows are contiguous. */
export interface ScoreModTile {
  /** The scaled q·k of the last tile that was modified if it was kept, else empty. */
  readonly products: Float32Array;
  /**
   * Replaces each scaled q·k of a tile by the score that the mod gives, in place. The mod may be undefined
   * for the elements that `isHidden` names.
   */
  apply(scores: Panel, tile: ScoreTile, isHidden: (at: number) => boolean): void;
}

/** The score mod of a problem, evaluated in f64; null without one. */
export function createScoreModTile(
  { scoreMod }: AttentionProblem,
  { captures = {} }: Operands<Tensor>,
  pairs: PairRows,
  size: TileSize,
  keepsProducts: boolean,
): ScoreModTile | null {
  if (!scoreMod) return null;
  const T = size.columns;
  const value = compileRows(scoreMod, captures, T);
  const products = new Float32Array(keepsProducts ? paddedElements(size) : 0);
  return {
    products,
    apply({ values }, tile, isHidden) {
      if (keepsProducts) products.set(values);
      pairs.visit(tile, values, T, row => {
        const { at, count } = row;
        const modified = value(row, n => !isHidden(at + n));
        for (let n = 0; n < count; n++) values[at + n] = modified[n];
      });
    },
  };
}
