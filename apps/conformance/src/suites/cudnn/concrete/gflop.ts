import type { Concrete } from './concrete.ts';

/**
 * Billions of operations in the matrix products, from the shapes alone: masks and lengths do not reduce the
 * number.
 */
export function gflop({ dims, backward }: Pick<Concrete, 'dims' | 'backward'>): number {
  const { B, Hq, Sq, Skv, Dqk, Dv } = dims;
  const perChannel = (2 * B * Hq * Sq * Skv) / 1e9;
  return perChannel * (Dqk + Dv + (backward ? 3 * Dqk + 2 * Dv : 0));
}
