export type { WorkgroupTileShape } from '../attention/tiles/tile.ts';
export { workgroupTile } from '../attention/tiles/workgroup/workgroup-tile.ts';
