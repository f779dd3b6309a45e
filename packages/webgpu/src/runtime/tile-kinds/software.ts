import { softwareTiles } from '../../attention/tiles/defaults/software-tiles.ts';
import { broadcastGroup } from '../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { DeviceTiles } from './device-tiles.ts';

/** The tiles of software adapters, with those of subgroups if lanes read for each other. */
export async function load(capabilities: Capabilities): Promise<DeviceTiles> {
  if (!broadcastGroup(capabilities)) return { adapterTiles: softwareTiles };
  const { subgroupKind } = await import('../../attention/tiles/subgroup/subgroup-kind.ts');
  return { subgroup: subgroupKind, adapterTiles: softwareTiles };
}
