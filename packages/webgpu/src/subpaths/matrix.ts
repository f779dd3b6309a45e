export { matrixTile } from '../attention/tiles/matrix/matrix-kind.ts';
export { matrixTiles } from '../attention/tiles/matrix/matrix-tiles.ts';
export type { MatrixTileShape } from '../attention/tiles/matrix/shape.ts';
