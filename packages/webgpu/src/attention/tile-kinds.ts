import { subgroupWork } from './subgroup-tile.ts';
import type { Tile } from './tile.ts';
import type { TileWork } from './tile-work.ts';
import { workgroupWork } from './workgroup-tile.ts';

/** How a tile of either kind is computed. */
export const tileWork = (tile: Tile): TileWork =>
  tile.through === 'subgroup' ? subgroupWork(tile) : workgroupWork(tile);
