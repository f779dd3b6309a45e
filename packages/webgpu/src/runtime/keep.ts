import { type Expr, flatten } from '@tilewise/core/expr';

/** Returns what `make` makes, or what was made before from equal data: plain values, and expressions. */
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
    const key = keyOf(from);
    // `make` refuses such data.
    if (key === null) return make();
    if (kept.size >= maxKept) kept.clear();
    if (!kept.has(key)) kept.set(key, make());
    return kept.get(key) as Made;
  };
}

/** Data as text; null for data that are not what they should be. */
function keyOf(data: unknown): string | null {
  try {
    return JSON.stringify(data, (_, part) => {
      // Lists the nodes of an expression, because nodes may be shared.
      if (typeof part?.type === 'string') return flatten(part as Expr);
      // JSON writes null for numbers that are not finite.
      return typeof part === 'number' && !Number.isFinite(part) ? `${part}` : part;
    });
  } catch {
    return null;
  }
}
