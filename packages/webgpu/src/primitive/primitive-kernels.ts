import type { TensorDesc } from '@tilewise/core';
import type { TensorFootprint } from '../codegen/dispatch-splits.ts';
import type { KernelSpec } from '../codegen/kernel-spec.ts';
import type { Capabilities } from '../device/capabilities.ts';

/**
 * What kernels of a primitive are made for. Its tensors are called x0, x1… and y0, y1… where a plan binds
 * them.
 */
export interface PrimitiveTensors {
  readonly inputs: readonly TensorDesc[];
  readonly outputs: readonly TensorDesc[];
  /** Names of tensors that do not start at a multiple of four elements. */
  readonly unaligned: ReadonlySet<string>;
  readonly capabilities: Capabilities;
}

/** Kernels in the order in which they run. */
export interface PrimitiveKernels {
  readonly kernels: readonly KernelSpec[];
  /** How many elements the regions of the workspace have that they use, by name. */
  readonly workspace?: Readonly<Record<string, number>>;
  /** What workgroups touch of each tensor, where large ones may be bound in pieces. */
  readonly footprints?: Readonly<Record<string, TensorFootprint>>;
}

/** The name of output n where a plan binds it. */
export const outputName = (n: number): string => `y${n}`;
