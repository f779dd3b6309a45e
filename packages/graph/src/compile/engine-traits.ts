import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** What decides how a graph is compiled for an engine. */
export interface EngineTraits {
  /** Whether its kernels, those of attention included, accept any strides. */
  readonly readsViews: boolean;
  /** Whether a device runs the program, with a kernel for each kind of fused step. */
  readonly onDevice: boolean;
}

export function traitsOf<T extends TensorDesc>({
  recording,
  prepareAttention,
}: TensorEngine<T>): EngineTraits {
  const onDevice = recording !== undefined;
  return { readsViews: onDevice || prepareAttention !== undefined, onDevice };
}
