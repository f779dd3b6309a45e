import { broadcastGroup, isCpu } from '../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { LoadedTileKinds } from './tile-choice.ts';

/**
 * Loads the kinds of tiles that the table takes on a device and not on most others, so that a program holds
 * their code only where it is used.
 */
export async function loadTileKinds(capabilities: Capabilities): Promise<LoadedTileKinds> {
  if (!isCpu(capabilities)) {
    const { loadHardwareTiles } = await import('./defaults/hardware-tiles.ts');
    return { adapterTiles: await loadHardwareTiles(capabilities) };
  }
  const { softwareTiles: adapterTiles } = await import('./defaults/software-tiles.ts');
  if (!broadcastGroup(capabilities)) return { adapterTiles };
  const { subgroupKind: subgroup } = await import('./subgroup/subgroup-kind.ts');
  return { subgroup, adapterTiles };
}
