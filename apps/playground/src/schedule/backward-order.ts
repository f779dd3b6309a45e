/** The gradients of q, k and v. */
export type Gradient = 'dQ' | 'dK' | 'dV';

/** Which way dS and P are walked: a row at a time (one query) or a column at a time (one key). */
export type Walk = 'rows' | 'columns';

/** How a gradient takes part in a walk: a whole row of it is finished at each step, or all of it changes a little. */
export type Style = 'inner product' | 'outer product';

/** dQ = dS·K needs rows of dS; dK = dSᵀ·Q and dV = Pᵀ·dO need columns. */
export function styleOf(gradient: Gradient, walk: Walk): Style {
  const finishedBy: Walk = gradient === 'dQ' ? 'rows' : 'columns';
  return walk === finishedBy ? 'inner product' : 'outer product';
}

/** How far row `r` of a gradient is after `done` of the n steps of a walk: the share of its terms that have been added. */
export function progress(gradient: Gradient, walk: Walk, done: number, r: number, n: number): number {
  if (styleOf(gradient, walk) === 'inner product') return r < done ? 1 : 0;
  return done / n;
}

/** Loads of K and V blocks by a row-wise walk over n × n blocks. */
export interface KeyLoads {
  readonly k: number;
  readonly v: number;
}

/**
 * Without D = rowsum(dO ∘ O), D must come from P and dP, which takes the whole row first: K and V are walked once for D, and
 * again for dS and its products. With D, once is enough.
 */
export function keyLoads(n: number, precomputedD: boolean): KeyLoads {
  const walks = precomputedD ? 1 : 2;
  return { k: walks * n * n, v: walks * n * n };
}
