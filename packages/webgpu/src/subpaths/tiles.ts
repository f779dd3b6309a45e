export type { SubgroupTileShape } from '../attention/tiles/subgroup/shape.ts';
export { subgroupTile } from '../attention/tiles/subgroup/subgroup-kind.ts';
export { workgroupTile } from '../attention/tiles/workgroup/workgroup-kind.ts';
export type { WorkgroupTileShape } from '../attention/tiles/workgroup/workgroup-tile.ts';
