export { type WorkgroupTileShape, workgroupTile } from '../attention/workgroup-tile-shape.ts';
