import type { Kernels } from './kernels.ts';
import type { TileSize } from './tile-size.ts';

/** What a pass runs on, where the defaults are not wanted: who multiplies, and how the score matrix is cut up. */
export interface Machine {
  readonly kernels?: Kernels;
  readonly tiles?: TileSize;
}
