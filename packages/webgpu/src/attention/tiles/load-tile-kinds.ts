import { broadcastGroup, isCpu } from '../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { LoadedTileKinds } from './tile-choice.ts';

/**
 * Loads the tile kinds that the built-in table uses on a device but not on most others, so that a program
 * loads their code only if it is used.
 */
export async function loadTileKinds(capabilities: Capabilities): Promise<LoadedTileKinds> {
  if (!isCpu(capabilities)) {
    const { loadHardwareTiles } = await import('./defaults/hardware-tiles.ts');
    return loadHardwareTiles(capabilities);
  }
  const { softwareTiles: adapterTiles } = await import('./defaults/software-tiles.ts');
  if (!broadcastGroup(capabilities)) return { adapterTiles };
  const { subgroupKind: subgroup } = await import('./subgroup/subgroup-kind.ts');
  return { subgroup, adapterTiles };
}
