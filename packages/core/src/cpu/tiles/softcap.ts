import type { AttentionProblem } from '../../attention/problem/problem.ts';
import { type Kernels, STRIP } from '../kernels/kernels.ts';
import type { Panel } from '../kernels/memory.ts';
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
 * score chain sees to it: after a score mod, and where there are no kernels for lines.
 */
export function createSoftcapTile(
  { scoreMod, softcap }: AttentionProblem,
  { memory, lines, scaleRows }: Kernels,
  { rows: maxRows, columns }: TileSize,
  keep: boolean,
): SoftcapTile | null {
  if (softcap === null || scoreMod !== null || !lines) return null;
  const size = keep ? Math.ceil(maxRows / STRIP) * STRIP * columns : 0;
  const tanh = memory.floats(size);
  const product = memory.floats(size);
  const ld = 4 * columns;
  return {
    cap(tile, rows) {
      scaleRows(rows, columns, tile.at, ld, 1 / softcap);
      lines.tanhLine(rows * columns, tile.at, tile.at);
      if (keep) tanh.values.set(tile.values);
      scaleRows(rows, columns, tile.at, ld, softcap);
    },
    differentiate(ds, rows) {
      const count = rows * columns;
      lines.mulLines(count, ds.at, tanh.at, product.at);
      lines.mulLines(count, product.at, tanh.at, product.at);
      lines.subLines(count, ds.at, product.at, product.at);
      lines.selectLines(count, ds.at, product.at, ds.at, ds.at);
    },
  };
}
