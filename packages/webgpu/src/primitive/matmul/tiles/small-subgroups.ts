import { inSubgroupsOf } from '../../../codegen/subgroups.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { subgroupSizeForRegisters } from '../../../device/capabilities/subgroup-size.ts';
import type { MatMulTile } from './tile.ts';

/** The number of sums of a lane from which registers matter more than waiting less for memory. */
const manySums = 64;

/**
 * The tile, in subgroups whose lanes have more registers than others; null if the device has no such
 * subgroups, or if the tile needs few registers. According to Mesa's compiler for Intel, the table's largest
 * tile then spills no registers, and takes about seven tenths of the clocks.
 */
export function inSmallSubgroups(tile: MatMulTile, capabilities: Capabilities): MatMulTile | null {
  const subgroupSize = subgroupSizeForRegisters(capabilities);
  return subgroupSize && tile.M * tile.N >= manySums * tile.lanes
    ? { ...tile, parts: [...tile.parts, inSubgroupsOf(subgroupSize)] }
    : null;
}
