export { type MatrixTileShape, matrixTile } from '../attention/matrix-tile.ts';
export { matrixTiles } from '../attention/matrix-tiles.ts';
