/** The gradients of q, k and v. */
export type Gradient = 'dQ' | 'dK' | 'dV';

/** Which way dS and P are walked: a row at a time (one query) or a column at a time (one key). */
export type Walk = 'rows' | 'columns';

/**
 * What one step of a walk does to a gradient: an inner product finishes a whole row, an outer product changes
 * every row a little.
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

/** One block of a row-wise walk: its position, and why K and V are loaded. */
export interface BlockVisit {
  readonly i: number;
  readonly j: number;
  /** `rows`: to find D of the row. `gradients`: for dS and its products. */
  readonly purpose: 'rows' | 'gradients';
}

/**
 * A row-wise walk over n × n blocks. Without D = rowsum(dO ∘ O), D must be computed from P and dP of the
 * whole row: K and V are loaded once for D, and again for dS and its products. With D, one pass is enough.
 * Each visit loads one block of K and V.
 */
export function blockVisits(n: number, knownD: boolean): BlockVisit[] {
  const purposes: readonly BlockVisit['purpose'][] = knownD ? ['gradients'] : ['rows', 'gradients'];
  const indices = Array.from({ length: n }, (_, k) => k);
  return indices.flatMap(i => purposes.flatMap(purpose => indices.map(j => ({ i, j, purpose }))));
}

/**
 * The two backward kernels that walk over dS: one has a workgroup for each tile of keys, the other for each
 * tile of queries.
 */
export type BackwardKernel = 'dkdv' | 'dq';

/**
 * The tile that a workgroup visits at a step: a query tile in `dkdv`, a key tile in `dq`; null when the
 * workgroup has finished. With a causal mask only the tiles that see each other are visited.
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
