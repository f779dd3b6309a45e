import { flatten } from '../expr/canonical.ts';
import type { Expr } from '../expr/nodes/expr.ts';
import { RecentValues } from './recent-values.ts';

/** Returns what `make` makes, or what was made before from equal data. */
export type Keep = <Made extends object | null>(from: unknown, make: () => Made) => Made;

/**
 * Keeps the values that were used last. The layers of a model have the same kernels, so a graph makes each
 * kernel once instead of once per layer.
 */
export function keepRecent(): Keep {
  const values = new RecentValues<object | null>();
  return <Made extends object | null>(from: unknown, make: () => Made) => {
    const key = JSON.stringify(from, (_, part) => {
      // Lists the nodes of an expression, because nodes may be shared.
      if (part?.type) return flatten(part as Expr);
      // JSON writes null for numbers that are not finite.
      return typeof part === 'number' && !Number.isFinite(part) ? `${part}` : part;
    });
    return values.get(key, make) as Made;
  };
}
