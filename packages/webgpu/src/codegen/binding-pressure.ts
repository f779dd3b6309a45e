import type { StorageBinding } from './shader-part.ts';

/** What decides which tensors a kernel binds. */
export interface BindingBudget {
  /** Storage buffers that a kernel may bind. */
  readonly buffers: number;
  /** How many elements each tensor takes in memory, by name. */
  readonly spans: Readonly<Record<string, number>>;
  /** Bytes of the largest tensor that is worth gathering. Default: any. */
  readonly upTo?: number;
}

/** Room for any number of bindings: no tensor is gathered. */
export const unlimitedBudget: BindingBudget = { buffers: Infinity, spans: {} };

/**
 * The tensors that a kernel with more bindings than there is room for does not bind: they are gathered in the workspace first
 * and read from there, all by one binding. The smallest go first, and no more than must.
 */
export function tensorsToGather(
  bindings: readonly StorageBinding[],
  { buffers, spans, upTo = Infinity }: BindingBudget,
): ReadonlySet<string> {
  if (bindings.length <= buffers) return new Set();
  const bytes = ({ name, elementBytes }: StorageBinding): number => (spans[name] ?? 0) * elementBytes;
  const smallest = bindings
    .filter(binding => binding.gatherable && bytes(binding) <= upTo)
    .sort((a, b) => bytes(a) - bytes(b))
    .slice(0, bindings.length - buffers + 1);
  return new Set(smallest.map(({ name }) => name));
}
