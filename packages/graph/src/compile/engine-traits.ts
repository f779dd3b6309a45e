import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** What decides how a graph is compiled for an engine. */
export interface EngineTraits {
  /**
   * Whether the engine's kernels, including those of attention, accept any strides, so that attention is
   * compiled together with its neighbours, and copies that only rearrange elements are views.
   */
  readonly readsViews: boolean;
  /** Whether a device runs the program, with a kernel for each kind of fused step. */
  readonly onDevice: boolean;
}

/** The traits of an engine. */
export function traitsOf<T extends TensorDesc>({
  recording,
  prepareAttention,
}: TensorEngine<T>): EngineTraits {
  const onDevice = recording !== undefined;
  return { readsViews: onDevice || prepareAttention !== undefined, onDevice };
}
