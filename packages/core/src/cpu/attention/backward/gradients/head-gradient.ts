import type { Kernels } from '../../../kernels/interface/kernels.ts';
import { padded, STRIP } from '../../../kernels/interface/panel.ts';
import type { Panel } from '../../../kernels/memory/memory.ts';
import type { RowPanel } from '../../../operands/row-panel.ts';
import type { RowResult } from '../../../operands/row-result.ts';
import type { ScoreTile } from '../../tiles/score-tile.ts';

/**
 * The gradient of some positions of a head of k or v, while the query heads that share it are processed. The
 * gradient is summed in f32, in a fixed order.
 */
export interface HeadGradient {
  /**
   * Adds the transposed weights of a tile, in rows that are `ld` bytes apart, times the query rows of a panel
   * (q or dO).
   * @param ranges the address of the ranges, as kernels take them.
   */
  add(tile: ScoreTile, weights: Panel, ld: number, rows: RowPanel, ranges: number): void;
  /** Selects positions `from` ≤ j < `to` of head h of sequence b, and stores the previous ones. */
  select(b: number, h: number, from: number, to: number): void;
  /** Stores the last positions. */
  finish(): void;
}

/** Sums for up to `positions` positions of head size D. */
export function createHeadGradient(
  { memory, addTransposedProduct }: Kernels,
  result: RowResult,
  positions: number,
  D: number,
): HeadGradient {
  const width = padded(D);
  const ldSums = 4 * width;
  // The last strip of a product may write a few rows beyond the head.
  const sums = memory.scratch((positions + STRIP) * width);
  let b = 0;
  let h = 0;
  let from = 0;
  let to = 0;
  function finish(): void {
    if (to > from) result.store(b, h, from, to - from, sums.at);
    to = from;
  }
  return {
    add({ rows, columns, j0 }, weights, ld, panel, ranges) {
      const { panels, panelBytes } = panel;
      const to = sums.at + (j0 - from) * ldSums;
      const guarded = !panel.isFinite();
      const [m, n] = [columns, width];
      addTransposedProduct(m, n, rows, weights.at, ld, panels, panelBytes, to, ldSums, ranges, j0, guarded);
    },
    select(nextB, nextH, nextFrom, nextTo) {
      if (nextB === b && nextH === h && nextFrom === from && nextTo === to) return;
      finish();
      b = nextB;
      h = nextH;
      from = nextFrom;
      to = Math.max(nextFrom, nextTo);
      sums.values.fill(0, 0, (to - from + STRIP) * width);
    },
    finish,
  };
}
