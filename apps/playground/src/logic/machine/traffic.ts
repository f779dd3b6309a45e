import type { Criterion } from './check.ts';
import type { Run } from './run.ts';

/** The most that a solution may move between DRAM and registers. */
export interface Budget {
  readonly reads: number;
  readonly writes: number;
  /** Reads of particular arrays, such as K and V. */
  readonly readsOf?: { readonly arrays: readonly string[]; readonly most: number };
}

/**
 * Whether a run stays within its budget. A program that stores nothing has solved nothing, so it meets no
 * demand.
 */
export function withinBudget<V>(run: Run<V>, { reads, writes, readsOf }: Budget): Criterion[] {
  const { loads = 0, stores = 0 } = run.steps.at(-1)?.counts ?? {};
  const atMost = (demand: Criterion['demand'] & { readonly most: number }, count: number): Criterion => ({
    demand,
    met: count <= demand.most && stores > 0,
    ...(count <= demand.most ? {} : { found: { kind: 'count', count } }),
  });
  const criteria = [
    atMost({ kind: 'reads', most: reads }, loads),
    atMost({ kind: 'writes', most: writes }, stores),
  ];
  if (!readsOf) return criteria;
  const { arrays, most } = readsOf;
  const loaded = run.steps.filter(({ reads: [place = ''] }) =>
    arrays.some(name => place.startsWith(`${name}[`)),
  ).length;
  return [...criteria, atMost({ kind: 'reads-of', arrays: arrays.join(', '), most }, loaded)];
}
