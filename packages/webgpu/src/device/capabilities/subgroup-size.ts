import { adapterClass } from './adapter-class.ts';
import type { Capabilities } from './capabilities.ts';

/**
 * The subgroup size for kernels whose lanes need many registers: the smallest that a device has, if its lanes
 * have more registers in smaller subgroups, and undefined if it does not matter or the device does not let
 * kernels choose. Dawn on Vulkan asks for twice the smallest size unless a kernel chooses. With that size,
 * Mesa's compiler for Intel spills hundreds of registers of attention kernels.
 */
export function subgroupSizeForRegisters(capabilities: Capabilities): number | undefined {
  const { features, subgroupMinSize, subgroupMaxSize } = capabilities;
  const canChoose = features.includes('subgroup-size-control') && subgroupMinSize < subgroupMaxSize;
  return canChoose && adapterClass(capabilities).fixedSubgroupRegisters ? subgroupMinSize : undefined;
}
