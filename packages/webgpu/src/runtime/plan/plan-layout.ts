import {
  bindingLimit,
  dispatchSplits,
  tooLargeReason,
} from '../../codegen/binding-limits/dispatch-splits.ts';
import { type GatheredKernels, withGathering } from '../../codegen/binding-limits/gather.ts';
import { type KernelParts, type KernelSpec, withFallbacks } from '../../codegen/kernel-spec.ts';
import { isInWorkspace, type StorageBinding, tensorOf } from '../../codegen/shader-part.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { PlanTensor } from './plan-tensors.ts';

/** The kernels of a plan in order, and the layout of their tensors. */
export interface PlanLayout extends GatheredKernels {
  /** `kernels`, each followed by the kernels that replace it if its results share a buffer. */
  readonly all: readonly KernelSpec[];
  /** Where each region of the workspace starts, in bytes. */
  readonly regions: ReadonlyMap<string, number>;
  readonly workspaceBytes: number;
  /** The tensors that the caller binds, including the workspace unless it is empty. */
  readonly tensors: readonly PlanTensor[];
  /** The tensors whose content the plan reads, and those that the plan writes. */
  readonly read: readonly PlanTensor[];
  readonly written: readonly PlanTensor[];
}

/** Lays out the tensors of a plan for bindings that start at multiples of `bindingAlignment` bytes. */
export function planLayout(parts: KernelParts, bindingAlignment: number): PlanLayout {
  const gathered = withGathering(parts);
  const all = withFallbacks(gathered.kernels);
  const bindings = all.flatMap(kernel => kernel.bindings);
  const workspace = layWorkspace(gathered, bindings, bindingAlignment);
  // Each tensor gets the strictest requirements of all kernels.
  const tensors = new Map<string, PlanTensor>();
  const read = new Set<string>();
  for (const binding of bindings) {
    const { access, alignment, updates } = binding;
    const name = isInWorkspace(binding.name) ? 'workspace' : tensorOf(binding);
    const seen = tensors.get(name);
    // Other tensors are written before they are read.
    if (updates || (access === 'read' && !seen)) read.add(name);
    tensors.set(name, {
      name,
      bytes: name === 'workspace' ? workspace.workspaceBytes : tensorBytes(gathered, binding),
      alignment: Math.max(alignment, seen?.alignment ?? 1),
      access: seen?.access === 'read_write' ? 'read_write' : access,
    });
  }
  if (workspace.workspaceBytes === 0) tensors.delete('workspace');
  const bound = [...tensors.values()];
  return {
    ...gathered,
    ...workspace,
    all,
    tensors: bound,
    read: bound.filter(({ name }) => read.has(name)),
    written: bound.filter(({ access }) => access === 'read_write'),
  };
}

/**
 * Lays out the regions of the workspace one after the other. A kernel may write to one region and read
 * another, so their bindings must not overlap after rounding.
 */
function layWorkspace(
  parts: KernelParts,
  bindings: readonly StorageBinding[],
  alignment: number,
): Pick<PlanLayout, 'regions' | 'workspaceBytes'> {
  const own = bindings.filter(({ name }) => isInWorkspace(name));
  const sizes = new Map(own.map(region => [region.name, tensorBytes(parts, region)]));
  const regions = new Map<string, number>();
  let end = 0;
  for (const name of [...sizes.keys()].sort()) {
    const start = end === 0 ? 0 : Math.ceil(end / alignment) * alignment + alignment;
    regions.set(name, start);
    end = start + (sizes.get(name) ?? 0);
  }
  return { regions, workspaceBytes: end };
}

/** The number of bytes of a binding's tensor. */
export function tensorBytes({ spans }: Pick<KernelParts, 'spans'>, binding: StorageBinding): number {
  return (spans[tensorOf(binding)] ?? 0) * binding.elementBytes;
}

/** The features that a device lacks for a plan; empty if the device can run the plan. */
export function planReasons(parts: KernelParts, capabilities: Capabilities): string[] {
  const gathered = withGathering(parts);
  const { maxStorageBuffersPerShaderStage: maxBuffers } = capabilities;
  const limit = bindingLimit(capabilities);
  const overBudget = gathered.kernels
    .filter(({ bindings }) => bindings.length > maxBuffers)
    .map(
      ({ name, bindings }) =>
        `the kernel '${name}' needs ${bindings.length} storage buffers, and this device allows ${maxBuffers}`,
    );
  const tooLarge = gathered.kernels.flatMap(kernel => {
    const splits = dispatchSplits(kernel, gathered, limit);
    return typeof splits === 'string' ? [tooLargeReason(kernel, splits, limit)] : [];
  });
  return [...overBudget, ...tooLarge];
}
