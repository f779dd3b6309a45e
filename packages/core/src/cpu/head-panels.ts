import { type Kernels, padded } from './kernels.ts';
import type { Unpack } from './unpack.ts';

/**
 * One head of k or v as f32 panels. It serves all query rows of all query heads that share it, tile by tile: what no
 * query looks at is never read.
 */
export interface HeadPanels {
  /** Row-major, element (j, d) is `rows[j·ldRows + d]`; empty if it was not asked for. */
  readonly rows: Float32Array;
  readonly ldRows: number;
  /** Transposed tile by tile, element (d, j) of tile t is `columns[columnsAt(t) + d·T + j − t·T]`; empty if not asked for. */
  readonly columns: Float32Array;
  columnsAt(tile: number): number;
  /** Turns to head h of sequence b, `length` positions long. */
  select(b: number, h: number, length: number): void;
  /** Makes a tile available. Gives whether all of its elements are finite. */
  load(tile: number): boolean;
}

const UNLOADED = 0;
const FINITE = 1;
const NOT_FINITE = 2;

/** Panels for up to `positions` positions of head size D in tiles of T positions. */
export function createHeadPanels(
  kernels: Kernels,
  unpack: Unpack,
  {
    positions,
    D,
    T,
    rows,
    columns,
  }: {
    readonly positions: number;
    readonly D: number;
    readonly T: number;
    readonly rows: boolean;
    readonly columns: boolean;
  },
): HeadPanels {
  const tiles = Math.ceil(positions / T);
  const ldRows = padded(D);
  const rowPanel = kernels.allocate(rows ? tiles * T * ldRows : 0);
  const columnPanel = kernels.allocate(columns ? tiles * T * D : 0);
  const state = new Uint8Array(tiles);
  let b = -1;
  let h = -1;
  let length = 0;

  return {
    rows: rowPanel,
    ldRows,
    columns: columnPanel,
    columnsAt: tile => tile * T * D,
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
        const to = Math.min(from + T, length);
        let finite = true;
        if (rows) finite = unpack(b, h, from, to, rowPanel, from * ldRows, ldRows, 1);
        if (columns) finite = unpack(b, h, from, to, columnPanel, tile * T * D, 1, T);
        state[tile] = finite ? FINITE : NOT_FINITE;
      }
      return state[tile] === FINITE;
    },
  };
}
