import type { HostOperand } from '../../attention/host/addressing.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { PANEL_BYTES, padded } from '../kernels/interface/panel.ts';
import { createOperandRows } from './operand-rows.ts';
import type { QueryTile } from './query-tile.ts';

/** One tile of query rows of an operand (q, o, dO) in f32. */
export interface RowPanel {
  /** The address of the loaded tile, row-major; its rows are `ld` bytes apart. */
  readonly at: number;
  readonly ld: number;
  /**
   * The address of the same tile as panels of B whose depth is the rows, `panelBytes` apart; 0 if they were
   * not requested.
   */
  readonly panels: number;
  readonly panelBytes: number;
  load(queries: QueryTile): void;
  /** Whether all elements of the loaded tile are finite; only for panels. */
  isFinite(): boolean;
}

/** A panel for tiles of at most `rows` rows of an operand. */
export function createRowPanel(
  kernels: Kernels,
  operand: HostOperand,
  rows: number,
  asPanels: boolean,
): RowPanel {
  const { memory, packRows } = kernels;
  const { ld, load } = createOperandRows(kernels, operand, rows);
  const width = padded(operand.desc.shape[3]);
  let at = 0;
  const panels = asPanels ? memory.scratch(rows * width).at : 0;
  const panelBytes = rows * PANEL_BYTES;
  let finite = true;
  return {
    get at() {
      return at;
    },
    ld,
    panels,
    panelBytes,
    load({ b, h, i0, rows: count }) {
      at = load(b, h, i0, i0 + count);
      if (asPanels) finite = packRows(count, width, at, ld, panels, panelBytes);
    },
    isFinite: () => finite,
  };
}
