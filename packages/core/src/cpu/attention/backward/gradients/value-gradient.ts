import type { AttentionProblem } from '../../../../attention/problem/problem.ts';
import type { ScoreTile } from '../../tiles/score-tile.ts';
import { roundTile } from '../../tiles/stages/fp8.ts';
import { paddedElements } from '../../tiles/tile-size.ts';
import type { BackwardInputs } from '../inputs/inputs.ts';
import type { HeadGradient } from './head-gradient.ts';

/** The stage dv += (z∘p)ᵀ·dO of a tile, whose probabilities have replaced its scores. */
export function createValueGradient(
  { fp8: contract }: AttentionProblem,
  { kernels: { memory }, size, tiles, fp8, dOT }: BackwardInputs,
  dv: HeadGradient,
): (tile: ScoreTile) => void {
  const { scores: p, dropout, ld } = tiles;
  const T = size.columns;
  // dS still needs p unchanged.
  const isApart = dropout !== null || contract !== null;
  const weights = isApart ? memory.floats(paddedElements(size)) : p;
  return tile => {
    const { rows, columns } = tile;
    if (dropout) dropout.drop(p.at, weights.at, ld, rows, columns);
    else if (isApart) weights.values.set(p.values);
    if (contract) roundTile(weights.values, T, rows, columns, fp8, fp8.scaleS);
    dv.add(tile, weights, ld, dOT, tiles.ranges());
  };
}
