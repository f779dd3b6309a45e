export type { WorkgroupTileShape } from '../attention/tile.ts';
export { workgroupTile } from '../attention/workgroup-variants.ts';
