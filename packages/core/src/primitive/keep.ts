import { flattenChecked } from '../expr/canonical.ts';
import type { Expr } from '../expr/nodes/expr.ts';
import { RecentValues } from './recent-values.ts';

/**
 * Returns what `make` makes, or what was made before from equal data: plain values that JSON can hold, and
 * expressions.
 */
export type Keep = <Made extends object | null>(from: unknown, make: () => Made) => Made;

/**
 * Keeps the values that were used last. The layers of a model have the same kernels, so a graph makes each
 * kernel once instead of once per layer.
 */
export function keepRecent(): Keep {
  const values = new RecentValues<object | null>();
  return <Made extends object | null>(from: unknown, make: () => Made) => {
    // Lists the nodes of an expression, because nodes may be shared.
    const key = JSON.stringify(from, (_, part) =>
      typeof part?.type === 'string' ? flattenChecked(part as Expr) : part,
    );
    return values.get(key, make) as Made;
  };
}
