import { quadWork } from './quad-tile.ts';
import { subgroupWork } from './subgroup-tile.ts';
import type { Tile } from './tile.ts';
import type { TileWork } from './tile-work.ts';
import { workgroupWork } from './workgroup-tile.ts';

/** How a tile of any kind is computed. */
export function tileWork(tile: Tile): TileWork {
  if (tile.through === 'matrix') return tile.work;
  if (tile.through !== 'subgroup') return workgroupWork(tile);
  return tile.group === 4 ? quadWork(tile) : subgroupWork(tile);
}
