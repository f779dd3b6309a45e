import type { StorageBinding } from './shader-part.ts';

/** The bindings and limits that decide which tensors a kernel binds. */
export interface BindingBudget {
  /** The number of storage buffers that a kernel may bind. */
  readonly buffers: number;
  /** The number of elements that each tensor spans in memory, by name. */
  readonly spans: Readonly<Record<string, number>>;
  /** The size in bytes of the largest tensor that is worth gathering. Default: any size. */
  readonly upTo?: number;
}

/** A budget without a limit: no tensor is gathered. */
export const unlimitedBudget: BindingBudget = { buffers: Infinity, spans: {} };

/**
 * The size in bytes up to which all tensors cost the same to gather: one dispatch each. Up to this size,
 * tensors are chosen in the order of the bindings, so that problems which differ only in sizes gather the
 * same tensors and share their kernels.
 */
const equallyCheap = 4096;

/**
 * The tensors that a kernel with more bindings than the budget does not bind: they are gathered into the
 * workspace first, and read from there through a single binding. The cheapest tensors are gathered first, and
 * no more than needed.
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
