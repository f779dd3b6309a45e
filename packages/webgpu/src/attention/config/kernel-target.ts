import { bindingLimit, dispatchSplits, type TensorFootprint } from '../../codegen/dispatch-splits.ts';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { TileSelector, TileTarget } from '../tiles/tile-choice.ts';

/** The device that kernels are made for. A context is one; `kernelTarget` makes one without a GPU. */
export interface KernelTarget extends TileTarget {
  /**
   * A binding of which even one workgroup of the kernel needs more than the device binds, if there is one.
   */
  tooLargeFor(kernel: KernelSpec, tensors: TensorSizes): string | undefined;
}

/**
 * How many elements each tensor takes in memory, and what workgroups touch of those that may be bound in
 * pieces.
 */
export interface TensorSizes {
  readonly spans: Readonly<Record<string, number>>;
  readonly footprints: Readonly<Record<string, TensorFootprint>>;
}

export function kernelTarget(capabilities: Capabilities, tiles?: TileSelector): KernelTarget {
  return {
    capabilities,
    tiles,
    tooLargeFor(kernel, { spans, footprints }) {
      const splits = dispatchSplits(kernel, spans, footprints, bindingLimit(capabilities));
      return typeof splits === 'string' ? splits : undefined;
    },
  };
}
