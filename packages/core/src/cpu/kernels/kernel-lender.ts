import type { Kernels } from './interface/kernels.ts';
import { MEMORY_KEPT, type Memory } from './memory/memory.ts';
import type { Variant } from './variant.ts';

/** Lends kernels to one call at a time. */
export interface KernelLender {
  /** Lends kernels to `work`. Their memory may have panels of earlier calls, until `reset` frees them. */
  withKernels<R>(variant: Variant, work: (kernels: Kernels) => R): R;
  /** The memory of the kernels that are lent. */
  residentMemory(variant: Variant): Memory;
}

/** A lender of kernels, which calls `make` if it has none. */
export function createKernelLender(make: (variant: Variant) => Kernels): KernelLender {
  const idle = new Map<Variant, Kernels | null>();
  return {
    withKernels(variant, work) {
      const kernels = idle.get(variant) ?? make(variant);
      // Removed while lent. Kernels of a call that throws are not lent again, unless tensors are in their
      // memory: the next call frees the panels that are left there.
      idle.set(variant, null);
      let isDone = false;
      try {
        const result = work(kernels);
        isDone = true;
        return result;
      } finally {
        const { bytes, isKept } = kernels.memory;
        if (isKept || (isDone && bytes <= MEMORY_KEPT)) idle.set(variant, kernels);
      }
    },
    residentMemory(variant) {
      const kernels = idle.get(variant) ?? make(variant);
      idle.set(variant, kernels);
      return kernels.memory;
    },
  };
}
