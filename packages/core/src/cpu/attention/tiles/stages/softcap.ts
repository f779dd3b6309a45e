import type { AttentionProblem } from '../../../../attention/problem/problem.ts';
import type { Kernels } from '../../../kernels/interface/kernels.ts';
import type { Panel } from '../../../kernels/memory/memory.ts';
import { paddedElements, type TileSize } from '../tile-size.ts';

/** Softcap of one tile of scores at a time: x becomes c·tanh(x / c). */
export interface SoftcapTile {
  /** Caps the first `rows` rows of a tile, in place. */
  cap(tile: Panel, rows: number): void;
  /**
   * Multiplies a tile of ds by 1 − tanh²(x / c), with the x of the last capped tile, if it was kept. A ds of
   * 0 stays 0, whatever x was.
   */
  differentiate(ds: Panel, rows: number): void;
}

/** The softcap of a problem, for tiles whose rows are contiguous; null without one. */
export function createSoftcapTile(
  { softcap }: AttentionProblem,
  kernels: Kernels,
  size: TileSize,
  keepsTanh: boolean,
): SoftcapTile | null {
  if (softcap === null) return null;
  const kept = keepsTanh ? kernels.memory.floats(paddedElements(size)).at : 0;
  return {
    cap: (tile, rows) => kernels.capScores(rows * size.columns, tile.at, kept, softcap),
    differentiate: (ds, rows) => kernels.uncapGradients(rows * size.columns, ds.at, kept),
  };
}
