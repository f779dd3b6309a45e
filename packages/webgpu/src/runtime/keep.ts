import { type Expr, flatten } from '@tilewise/core/expr';

/**
 * Returns what `make` makes, or what was made before from equal data: plain values that JSON can hold, and
 * expressions.
 */
export type Keep = <Made>(from: unknown, make: () => Made) => Made;

/** More kernels than a model normally has. */
const maxKept = 256;

/**
 * Keeps what is made, up to a number at which it starts again. The layers of a model have the same kernels,
 * so a graph makes each kernel once instead of once per layer.
 */
export function keepMade(): Keep {
  const kept = new Map<string, unknown>();
  return <Made>(from: unknown, make: () => Made) => {
    // Lists the nodes of an expression, because nodes may be shared.
    const key = JSON.stringify(from, (_, part) =>
      typeof part?.type === 'string' ? flatten(part as Expr) : part,
    );
    if (kept.size >= maxKept) kept.clear();
    if (!kept.has(key)) kept.set(key, make());
    return kept.get(key) as Made;
  };
}
