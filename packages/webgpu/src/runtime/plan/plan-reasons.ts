import { bindingLimit, dispatchSplits, tooLargeReason } from '../../codegen/dispatch-splits.ts';
import { withGathering } from '../../codegen/gather.ts';
import type { Capabilities } from '../../device/capabilities.ts';
import type { KernelParts } from './kernel-plan.ts';

/** What a device lacks for a plan that is otherwise possible. */
export function planReasons(
  { kernels: made, spans: elements, footprints = {} }: KernelParts,
  capabilities: Capabilities,
): string[] {
  const { kernels, spans } = withGathering(made, elements);
  const { maxStorageBuffersPerShaderStage: maxBuffers } = capabilities;
  const limit = bindingLimit(capabilities);
  const crowded = kernels
    .filter(({ bindings }) => bindings.length > maxBuffers)
    .map(
      ({ name, bindings }) =>
        `the kernel '${name}' needs ${bindings.length} storage buffers, and this device allows ${maxBuffers}`,
    );
  const large = kernels.flatMap(kernel => {
    const splits = dispatchSplits(kernel, spans, footprints, limit);
    return typeof splits === 'string' ? [tooLargeReason(kernel, splits, limit)] : [];
  });
  return [...crowded, ...large];
}
