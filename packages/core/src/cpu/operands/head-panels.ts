import type { HostOperand } from '../../attention/host/addressing.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { PANEL_BYTES, padded } from '../kernels/interface/panel.ts';
import { createOperandRows } from './operand-rows.ts';

/**
 * One head of k or v as f32 panels of B. It serves all query rows of all query heads that share it, tile by
 * tile; tiles that no query sees are never read.
 */
export interface HeadPanels {
  /** The address of the panels of a tile whose depth is the positions; only if they were requested. */
  rowsAt(tile: number): number;
  /** The distance between these panels in bytes. */
  readonly rowPanelBytes: number;
  /** The address of the panels of a tile whose depth is the head size; only if they were requested. */
  columnsAt(tile: number): number;
  /** Selects head h of sequence b, which has `length` positions. */
  select(b: number, h: number, length: number): void;
  /** Loads a tile. Returns whether all elements of its panels whose depth is the positions are finite. */
  load(tile: number): boolean;
}

const UNLOADED = 0;
const FINITE = 1;
const NOT_FINITE = 2;

/** The size of the panels, and which of them are requested. */
interface HeadPanelsSize {
  /** The positions of the longest head, in tiles of T, a multiple of `PANEL`. */
  readonly positions: number;
  readonly T: number;
  readonly rows: boolean;
  readonly columns: boolean;
}

/** Panels of an operand. */
export function createHeadPanels(
  kernels: Kernels,
  operand: HostOperand,
  { positions, T, rows, columns }: HeadPanelsSize,
): HeadPanels {
  const { memory, packRows, packColumns } = kernels;
  const source = createOperandRows(kernels, operand, T);
  const [, , , D] = operand.desc.shape;
  const tiles = Math.ceil(positions / T);
  const width = padded(D);
  const rowPanelBytes = T * PANEL_BYTES;
  const rowPanels = memory.scratch(rows ? tiles * T * width : 0).at;
  const columnPanels = memory.scratch(columns ? tiles * T * D : 0).at;
  const state = new Uint8Array(tiles);
  let b = -1;
  let h = -1;
  let length = 0;
  const rowsAt = (tile: number): number => rowPanels + tile * T * width * 4;
  const columnsAt = (tile: number): number => columnPanels + tile * T * D * 4;

  return {
    rowsAt,
    rowPanelBytes,
    columnsAt,
    select(nextB, nextH, nextLength) {
      if (nextB === b && nextH === h) return;
      b = nextB;
      h = nextH;
      length = nextLength;
      state.fill(UNLOADED);
    },
    load(tile) {
      if (state[tile] === UNLOADED) {
        const from = tile * T;
        const count = Math.min(T, length - from);
        const at = source.load(b, h, from, from + count);
        const finite = !rows || packRows(count, width, at, source.ld, rowsAt(tile), rowPanelBytes);
        // The scores of positions that pad the last panel are never read.
        if (columns) packColumns(padded(count), D, at, source.ld, columnsAt(tile));
        state[tile] = finite ? FINITE : NOT_FINITE;
      }
      return state[tile] === FINITE;
    },
  };
}
