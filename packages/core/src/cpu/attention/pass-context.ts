import type { Kernels } from '../kernels/interface/kernels.ts';
import type { SmallHeads } from './small-heads/small-heads.ts';
import type { TileSize } from './tiles/tile-size.ts';

/** The kernels that run a pass, and how to divide the score matrix if not by default. */
export interface PassContext {
  readonly kernels: Kernels;
  readonly tiles?: TileSize;
  /** The number of threads that share the tasks of the pass; default 1. */
  readonly threads?: number;
  /** Passes over small heads; without them such heads run in tiles, with the same bits. */
  readonly smallHeads?: SmallHeads;
  /**
   * Waits until the rows of q, k, v, o and dO that a group of heads reads have arrived. All other operands
   * are present from the start.
   */
  readonly awaitHeads?: (group: number) => void;
}
