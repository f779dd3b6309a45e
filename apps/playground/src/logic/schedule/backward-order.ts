/** The gradients of q, k and v. */
export type Gradient = 'dQ' | 'dK' | 'dV';

/** Which way dS and P are walked: a row at a time (one query) or a column at a time (one key). */
export type Walk = 'rows' | 'columns';

/**
 * How a gradient takes part in a walk: by inner products, a whole row is finished at each step; by outer
 * products, all of it changes a little.
 */
export type Style = 'inner' | 'outer';

/** dQ = dS·K needs rows of dS; dK = dSᵀ·Q and dV = Pᵀ·dO need columns. */
export function styleOf(gradient: Gradient, walk: Walk): Style {
  const finishedBy: Walk = gradient === 'dQ' ? 'rows' : 'columns';
  return walk === finishedBy ? 'inner' : 'outer';
}

/**
 * How many of the n terms of row `r` of a gradient have been added after `done` steps of a walk. A row is
 * finished when it has all of them: with inner products one row at a time, with outer products all at the
 * end.
 */
export function termsAdded(gradient: Gradient, walk: Walk, done: number, r: number, n: number): number {
  if (styleOf(gradient, walk) === 'inner') return r < done ? n : 0;
  return done;
}

/** One block of a row-wise walk: where it is, and what K and V are loaded for. */
export interface BlockVisit {
  readonly i: number;
  readonly j: number;
  /** `rows`: to find D of the row. `gradients`: for dS and its products. */
  readonly purpose: 'rows' | 'gradients';
}

/**
 * A row-wise walk over n × n blocks. Without D = rowsum(dO ∘ O), D must come from P and dP, which takes the
 * whole row first: K and V are walked once for D, and again for dS and its products. With D, once is enough.
 * Each visit loads one block of K and V.
 */
export function blockVisits(n: number, knownD: boolean): BlockVisit[] {
  const purposes: readonly BlockVisit['purpose'][] = knownD ? ['gradients'] : ['rows', 'gradients'];
  const indices = Array.from({ length: n }, (_, k) => k);
  return indices.flatMap(i => purposes.flatMap(purpose => indices.map(j => ({ i, j, purpose }))));
}

/**
 * The two kernels of backward that walk over dS: one has a workgroup for each tile of keys, the other for
 * each of queries.
 */
export type BackwardKernel = 'dkdv' | 'dq';

/**
 * Which tile a workgroup meets at a step: a query tile in `dkdv`, a key tile in `dq`; null when it has
 * finished. With a causal mask only the tiles that see each other are visited.
 */
export function visitedTile(
  kernel: BackwardKernel,
  workgroup: number,
  step: number,
  n: number,
  causal: boolean,
): number | null {
  const first = causal && kernel === 'dkdv' ? workgroup : 0;
  const last = causal && kernel === 'dq' ? workgroup : n - 1;
  return first + step <= last ? first + step : null;
}
