import type { TensorDesc } from '@tilewise/core';
import { inputName } from '@tilewise/core/primitive';
import type { KernelParts } from '../../codegen/kernel-spec.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';

/** For inputs that are overwritten: the outputs that share their memory, by the names of the inputs. */
export type InPlaceNames = Readonly<Record<string, string>>;

/** The tensors that the kernels of a primitive are made for. A plan binds them as x0, x1… and y0, y1… */
export interface PrimitiveTensors {
  readonly inputs: readonly TensorDesc[];
  readonly outputs: readonly TensorDesc[];
  /** The names of tensors that do not start at a multiple of four elements. */
  readonly unaligned: ReadonlySet<string>;
  readonly capabilities: Capabilities;
  readonly inPlace?: InPlaceNames;
}

/** Kernels in the order in which they run. */
export interface PrimitiveKernels extends Omit<KernelParts, 'spans'> {
  /** The number of elements in each region of the workspace that the kernels use, by name. */
  readonly workspace?: Readonly<Record<string, number>>;
}

/** The name under which a plan binds output n. */
export const outputName = (n: number): string => `y${n}`;

/**
 * A value for each tensor of a primitive, by the names under which a plan binds them.
 * @param value computes the value from a tensor and the name that errors use for it.
 */
export function byName<T, V>(
  inputs: readonly T[],
  outputs: readonly T[],
  value: (tensor: T, argument: string) => V,
): Record<string, V> {
  return Object.fromEntries([
    ...inputs.map((tensor, n) => [inputName(n), value(tensor, `inputs[${n}]`)] as const),
    ...outputs.map((tensor, n) => [outputName(n), value(tensor, `outputs[${n}]`)] as const),
  ]);
}
