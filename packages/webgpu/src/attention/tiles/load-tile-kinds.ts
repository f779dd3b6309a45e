import { TilewiseError } from '@tilewise/core';
import { broadcastGroup } from '../../device/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities.ts';
import type { LoadedTileKinds } from './tile-choice.ts';

/**
 * Loads the kinds of tiles that the table takes on a device and not on most others, so that a program holds
 * their code only where it is used.
 * @throws TilewiseError `UNSUPPORTED` when their module cannot be loaded.
 */
export async function loadTileKinds(capabilities: Capabilities): Promise<LoadedTileKinds> {
  if (!broadcastGroup(capabilities)) return {};
  const { subgroupKind } = await import('./subgroup/subgroup-kind.ts').catch((cause: unknown) => {
    throw new TilewiseError('UNSUPPORTED', 'the code of the tile kind subgroup could not be loaded', {
      cause,
    });
  });
  return { subgroup: subgroupKind };
}
