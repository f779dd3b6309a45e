import type { AttentionProblem } from '../../../attention/problem/problem.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { STRIP } from '../../kernels/interface/panel.ts';
import type { Panel } from '../../kernels/memory/memory.ts';
import type { TileSize } from './tile-size.ts';

/** Softcap of one tile of scaled q·k at a time: x becomes c·tanh(x / c). */
export interface SoftcapTile {
  /** Caps the first `rows` rows of a tile, in place. */
  cap(tile: Panel, rows: number): void;
  /**
   * Multiplies a tile of ds by 1 − tanh²(x / c), x being that of the tile capped last, if it was kept. Where
   * ds is 0 it stays, whatever x was.
   */
  differentiate(ds: Panel, rows: number): void;
}

/**
 * Softcap by the kernels, for tiles whose rows lie in line. Null where the problem has none, and where the
 * score chain sees to it: after a score mod, and where the kernels have none.
 */
export function createSoftcapTile(
  { scoreMod, softcap }: AttentionProblem,
  { memory, softcap: kernels }: Kernels,
  { rows: maxRows, columns }: TileSize,
  keep: boolean,
): SoftcapTile | null {
  if (softcap === null || scoreMod !== null || !kernels) return null;
  const kept = keep ? memory.floats(Math.ceil(maxRows / STRIP) * STRIP * columns).at : 0;
  return {
    cap: (tile, rows) => kernels.capScores(rows * columns, tile.at, kept, softcap),
    differentiate: (ds, rows) => kernels.uncapGradients(rows * columns, ds.at, kept),
  };
}
