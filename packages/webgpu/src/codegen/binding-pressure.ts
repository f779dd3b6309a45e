import type { StorageBinding } from './shader-part.ts';

/** The bindings and limits that decide which tensors a kernel binds. */
export interface BindingBudget {
  /** Storage buffers that a kernel may bind. */
  readonly buffers: number;
  /** How many elements each tensor takes in memory, by name. */
  readonly spans: Readonly<Record<string, number>>;
  /** Bytes of the largest tensor that is worth gathering. Default: any. */
  readonly upTo?: number;
}

/** A budget of any number of bindings: no tensor is gathered. */
export const unlimitedBudget: BindingBudget = { buffers: Infinity, spans: {} };

/**
 * Bytes up to which all tensors cost the same to gather: a dispatch each. Among them the order of the
 * bindings decides, so that problems that differ in sizes only gather the same tensors and share their
 * kernels.
 */
const equallyCheap = 4096;

/**
 * The tensors that a kernel with more bindings than the budget does not bind: they are gathered in the
 * workspace first and read from there, all by one binding. The cheapest are gathered first, and no more than
 * needed.
 */
export function tensorsToGather(
  bindings: readonly StorageBinding[],
  { buffers, spans, upTo = Infinity }: BindingBudget,
): ReadonlySet<string> {
  if (bindings.length <= buffers) return new Set();
  const bytes = ({ name, elementBytes }: StorageBinding): number => (spans[name] ?? 0) * elementBytes;
  const cost = (binding: StorageBinding): number => Math.max(bytes(binding), equallyCheap);
  const smallest = bindings
    .filter(binding => binding.gatherable && bytes(binding) <= upTo)
    .sort((a, b) => cost(a) - cost(b))
    .slice(0, bindings.length - buffers + 1);
  return new Set(smallest.map(({ name }) => name));
}
