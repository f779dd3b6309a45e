export type { MatrixTileShape } from '../attention/matrix-layout.ts';
export { matrixTile } from '../attention/matrix-tile.ts';
export { matrixTiles } from '../attention/matrix-tiles.ts';
