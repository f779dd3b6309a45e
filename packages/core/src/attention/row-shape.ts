import type { AttentionProblem } from './problem.ts';

/** Shape of lse, max and sumExp: (B, Hq, Sq), packed (Hq, T). */
export function rowShape({ B, Hq, Sq, packed, q }: AttentionProblem): number[] {
  return packed ? [Hq, q.shape[2]] : [B, Hq, Sq];
}
