import type { Kernels } from '../kernels/interface/kernels.ts';
import type { SmallHeads } from './small-heads.ts';
import type { TileSize } from './tiles/tile-size.ts';

/** The kernels that run a pass, and how the score matrix is cut up where the default is not wanted. */
export interface PassContext {
  readonly kernels: Kernels;
  readonly tiles?: TileSize;
  /** How many threads share the tasks of the pass, 1 unless given. */
  readonly threads?: number;
  /** Passes over small heads, on one thread; without them such heads run in tiles, with the same bits. */
  readonly smallHeads?: SmallHeads;
  /**
   * Waits until the rows of q, k, v, o and dO that a group of heads reads are there. All else is there from
   * the start.
   */
  readonly awaitHeads?: (group: number) => void;
}
