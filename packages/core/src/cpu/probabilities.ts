import { exp } from './exp.ts';

/** Replaces a tile of scores by p = e^(s − lse); 0 in rows with lse = −∞, which see nothing. */
export function toProbabilities(
  scores: Float32Array,
  ld: number,
  rows: number,
  columns: number,
  lse: Float64Array,
): void {
  for (let i = 0; i < rows; i++) {
    const from = i * ld;
    const to = from + columns;
    if (lse[i] === -Infinity) scores.fill(0, from, to);
    else for (let at = from; at < to; at++) scores[at] = exp(scores[at] - lse[i]);
  }
}

/** Replaces a tile of dp by ds = p·(dp − delta); 0 where p is, whatever dp holds there. */
export function toScoreGradients(
  dp: Float32Array,
  p: Float32Array,
  ld: number,
  rows: number,
  columns: number,
  delta: Float64Array,
): void {
  for (let i = 0; i < rows; i++) {
    const to = i * ld + columns;
    for (let at = i * ld; at < to; at++) dp[at] = p[at] === 0 ? 0 : p[at] * (dp[at] - delta[i]);
  }
}
