import { quadWork } from './subgroup/quad-backend.ts';
import { subgroupWork } from './subgroup/subgroup-backend.ts';
import type { Tile } from './tile.ts';
import type { TileWork } from './tile-backend.ts';
import { workgroupWork } from './workgroup/workgroup-backend.ts';

/** How a tile of any kind is computed. */
export function tileWork(tile: Tile): TileWork {
  if (tile.through === 'matrix') return tile.work;
  if (tile.through !== 'subgroup') return workgroupWork(tile);
  return tile.group === 4 ? quadWork(tile) : subgroupWork(tile);
}
