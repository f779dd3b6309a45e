import type { LoadedTileKinds } from '../../attention/tiles/tile-choice.ts';
import type { MatMulTileSelector } from '../../primitive/matmul/tiles/tile.ts';

/** Tiles that a context loads for its device: those of attention, and those of matrix products. */
export interface DeviceTiles extends LoadedTileKinds {
  readonly matmulTiles?: MatMulTileSelector;
}
