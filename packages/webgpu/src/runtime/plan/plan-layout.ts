import {
  bindingLimit,
  dispatchSplits,
  type TensorFootprint,
  tooLargeReason,
} from '../../codegen/dispatch-splits.ts';
import { type GatheredKernels, withGathering } from '../../codegen/gather.ts';
import { type KernelSpec, withFallbacks } from '../../codegen/kernel-spec.ts';
import type { StorageBinding } from '../../codegen/shader-part.ts';
import { tensorOf } from '../../codegen/shader-part.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import { layWorkspace, type PlanTensor, planTensors, tensorsRead } from './plan-tensors.ts';

/** The kernels of a plan and the sizes of their tensors: what decides whether a device can run the plan. */
export interface KernelParts {
  readonly kernels: readonly KernelSpec[];
  /** Elements that each tensor takes in memory, by name. */
  readonly spans: Readonly<Record<string, number>>;
  /** Which elements workgroups touch, for tensors of which a dispatch may bind a part. */
  readonly footprints?: Readonly<Record<string, TensorFootprint>>;
}

/** The kernels of a plan in order, and where their tensors lie. */
export interface PlanLayout extends GatheredKernels {
  /** `kernels`, each followed by those that replace it where its results share a buffer. */
  readonly all: readonly KernelSpec[];
  /** Where each region of the workspace starts, in bytes. */
  readonly regions: ReadonlyMap<string, number>;
  readonly workspaceBytes: number;
  /** Tensors that the caller binds, the workspace among them unless it is empty. */
  readonly tensors: readonly PlanTensor[];
  /** Tensors whose content the plan reads, and those that it writes. */
  readonly read: readonly PlanTensor[];
  readonly written: readonly PlanTensor[];
}

/** Lays the tensors of a plan out for bindings that start at multiples of `alignment` bytes. */
export function planLayout({ kernels: made, spans: elements }: KernelParts, alignment: number): PlanLayout {
  const gathered = withGathering(made, elements);
  const all = withFallbacks(gathered.kernels);
  const bytesOf = (binding: StorageBinding): number => tensorBytes(gathered, binding);
  const { starts, bytes: workspaceBytes } = layWorkspace(all, bytesOf, alignment);
  const tensors = planTensors(all, bytesOf, workspaceBytes).filter(
    ({ name, bytes }) => name !== 'workspace' || bytes > 0,
  );
  const names = tensorsRead(all);
  return {
    ...{ ...gathered, all, regions: starts, workspaceBytes, tensors },
    read: tensors.filter(({ name }) => names.has(name)),
    written: tensors.filter(({ access }) => access === 'read_write'),
  };
}

/** Bytes of the tensor that a binding is of. */
export function tensorBytes({ spans }: Pick<KernelParts, 'spans'>, binding: StorageBinding): number {
  return (spans[tensorOf(binding)] ?? 0) * binding.elementBytes;
}

/** The features that a device lacks for a plan; empty when the device can run the plan. */
export function planReasons(parts: KernelParts, capabilities: Capabilities): string[] {
  const { kernels, spans } = withGathering(parts.kernels, parts.spans);
  const { maxStorageBuffersPerShaderStage: maxBuffers } = capabilities;
  const limit = bindingLimit(capabilities);
  const overBudget = kernels
    .filter(({ bindings }) => bindings.length > maxBuffers)
    .map(
      ({ name, bindings }) =>
        `the kernel '${name}' needs ${bindings.length} storage buffers, and this device allows ${maxBuffers}`,
    );
  const tooLarge = kernels.flatMap(kernel => {
    const splits = dispatchSplits(kernel, spans, parts.footprints ?? {}, limit);
    return typeof splits === 'string' ? [tooLargeReason(kernel, splits, limit)] : [];
  });
  return [...overBudget, ...tooLarge];
}
