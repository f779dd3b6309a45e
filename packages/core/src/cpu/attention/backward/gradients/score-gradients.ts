import type { KeyRanges } from '../../../../attention/host/key-ranges.ts';
import { broadcastIndex } from '../../../../attention/host/result-index.ts';
import type { AttentionProblem } from '../../../../attention/problem/problem.ts';
import type { ScoreTile } from '../../tiles/score-tile.ts';
import type { BackwardSums } from '../sums.ts';

/**
 * Processes one tile of gradients of scores: row i and key j of the tile at `ds[i·ld + j]`, 0 for pairs that
 * are not seen.
 */
export type ConsumeTile = (ds: Float32Array, ld: number, tile: ScoreTile) => void;

/** The wanted gradients that are sums of ds = ∂L/∂(final score), in f64 and in the order of the tiles. */
export function createScoreGradients(
  problem: AttentionProblem,
  keyRanges: Pick<KeyRanges, 'diagonalOffset'>,
  { dbias, dAlibi }: Pick<BackwardSums, 'dbias' | 'dAlibi'>,
): readonly ConsumeTile[] {
  return [
    ...(dbias && problem.bias ? [biasGradient(problem.bias, dbias)] : []),
    ...(dAlibi ? [alibiGradient(problem.Hq, keyRanges, dAlibi)] : []),
  ];
}

/** Sums ds over the dimensions along which the bias is broadcast. */
function biasGradient(bias: NonNullable<AttentionProblem['bias']>, sums: Float64Array): ConsumeTile {
  const indexOf = broadcastIndex(bias);
  const step = (bias.source.at(-1) ?? 1) > 1 ? 1 : 0;
  return (ds, ld, { b, h, i0, rows, j0, columns }) => {
    for (let i = 0; i < rows; i++) {
      const at = indexOf(b, h, i0 + i, j0);
      for (let j = 0; j < columns; j++) sums[at + j * step] += ds[i * ld + j];
    }
  };
}

/** −Σ |i + off − j| ds for each head of each sequence. */
function alibiGradient(
  Hq: number,
  { diagonalOffset }: Pick<KeyRanges, 'diagonalOffset'>,
  sums: Float64Array,
): ConsumeTile {
  return (ds, ld, { b, h, i0, rows, j0, columns }) => {
    const diagonal = i0 + diagonalOffset(b) - j0;
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) sums[b * Hq + h] -= Math.abs(diagonal + i - j) * ds[i * ld + j];
    }
  };
}
