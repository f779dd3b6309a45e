import { TilewiseError } from '@tilewise/core';
import { broadcastGroup, isCpu } from '../../device/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities.ts';
import type { HardwareTiles, LoadedTileKinds } from './tile-choice.ts';

/**
 * Loads the kinds of tiles that the table takes on a device and not on most others, so that a program holds
 * their code only where it is used.
 * @throws TilewiseError `UNSUPPORTED` when their module cannot be loaded.
 */
export async function loadTileKinds(capabilities: Capabilities): Promise<LoadedTileKinds> {
  if (!isCpu(capabilities))
    return { hardware: await loadHardwareTiles(capabilities).catch(notLoaded('for GPUs')) };
  if (!broadcastGroup(capabilities)) return {};
  const { subgroupKind } = await import('./subgroup/subgroup-kind.ts').catch(notLoaded('subgroup'));
  return { subgroup: subgroupKind };
}

async function loadHardwareTiles({ subgroupMatrixConfigs }: Capabilities): Promise<HardwareTiles> {
  const { hardwareTiles } = await import('./defaults/hardware-tiles.ts');
  if (subgroupMatrixConfigs.length === 0) return hardwareTiles(null);
  const { matrixTiles } = await import('./matrix/matrix-tiles.ts');
  return hardwareTiles(matrixTiles);
}

const notLoaded =
  (kind: string) =>
  (cause: unknown): never => {
    throw new TilewiseError('UNSUPPORTED', `the code of the tile kind ${kind} could not be loaded`, {
      cause,
    });
  };
