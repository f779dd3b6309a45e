import { type Expr, flatten } from '@tilewise/core/expr';

/** Returns what `make` makes, or what was made before from equal data: plain values and expressions. */
export type KernelMemo = <Made>(from: unknown, make: () => Made) => Made;

/** More kernels than a model normally has. */
const maxRemembered = 256;

/**
 * Remembers the kernels of an engine by the data that they are made from, and forgets all of them at a limit.
 * The layers of a model have the same kernels, so a graph makes each kernel once instead of once per layer.
 */
export function createKernelMemo(): KernelMemo {
  const known = new Map<string, unknown>();
  return <Made>(from: unknown, make: () => Made) => {
    const key = keyOf(from);
    // Invalid data have no key; `make` refuses them.
    if (key === null) return make();
    if (known.size >= maxRemembered) known.clear();
    if (!known.has(key)) known.set(key, make());
    return known.get(key) as Made;
  };
}

/** The data as JSON; null for data that JSON cannot hold, and for invalid expressions. */
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
