import type { Fp8Arithmetic } from '../../../../score/fp8.ts';

/**
 * Rounds one tile of weights (P or dS, row i and key j at `weights[i·ld + j]`) times `scale` in place, for
 * FP8 products. Returns the largest magnitude before.
 */
export function roundTile(
  weights: Float32Array,
  ld: number,
  rows: number,
  columns: number,
  { round }: Pick<Fp8Arithmetic, 'round'>,
  scale: number,
): number {
  let amax = 0;
  for (let i = 0; i < rows; i++) {
    for (let at = i * ld; at < i * ld + columns; at++) {
      amax = Math.max(amax, Math.abs(weights[at]));
      weights[at] = round(weights[at] * scale);
    }
  }
  return amax;
}
