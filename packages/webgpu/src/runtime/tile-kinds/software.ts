import { softwareTiles } from '../../attention/tiles/defaults/software-tiles.ts';
import { broadcastGroup } from '../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { DeviceTiles } from './device-tiles.ts';

/** The tiles of software adapters, with those of subgroups if lanes read for each other. */
export async function load(capabilities: Capabilities): Promise<DeviceTiles> {
  const [{ gemvTiles }, kind] = await Promise.all([
    import('../../primitive/matmul/tiles/gemv-tiles.ts'),
    broadcastGroup(capabilities) ? import('../../attention/tiles/subgroup/subgroup-kind.ts') : null,
  ]);
  const tiles = { adapterTiles: softwareTiles, matmulTiles: gemvTiles() };
  return kind ? { ...tiles, subgroup: kind.subgroupKind } : tiles;
}
