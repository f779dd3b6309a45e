import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import type { KernelConfig, KernelTools } from '../config/kernel-config.ts';
import type { TileTarget } from '../tiles/tile-choice.ts';
import type { PlanTensors } from './tensors.ts';

/**
 * The plan of a problem on a device, computed once: the kernels in the order in which they run, and their
 * tensors.
 */
export interface AttentionPlan extends PlanTensors {
  readonly kernels: readonly KernelSpec[];
}

/** The device that a plan is for, and the code that it may use. */
export interface PlanOn {
  readonly target: TileTarget;
  /** Tensors that do not start at a multiple of four elements. Default: none. */
  readonly unaligned?: ReadonlySet<string>;
  /** The code for the options of the problem. */
  readonly tools: KernelTools;
}

/** Makes the kernels of a plan. */
export interface KernelMaker {
  readonly config: KernelConfig;
  /** Makes a kernel, which reads large operands in segments if the device requires it. */
  make(kernel: (config: KernelConfig) => KernelSpec, changes?: Partial<KernelConfig>): KernelSpec;
}

export function kernelMaker(
  { target, unaligned = new Set(), tools }: PlanOn,
  tensors: PlanTensors,
): KernelMaker {
  const { capabilities } = target;
  const buffers = capabilities.maxStorageBuffersPerShaderStage;
  const config = { unaligned, tools, bindingBudget: { buffers, spans: tensors.spans } };
  return {
    config,
    make(kernel, changes) {
      const own = { ...config, ...changes };
      const { bindingBudget } = own;
      const make = (fewer: number): KernelSpec =>
        kernel({ ...own, bindingBudget: { ...bindingBudget, buffers: bindingBudget.buffers - fewer } });
      return tools.segments?.(make, tensors, capabilities) ?? make(0);
    },
  };
}
