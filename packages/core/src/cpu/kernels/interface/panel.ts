/** Columns that lie side by side in a panel of B; head sizes and tiles are padded to it. */
export const PANEL: number = 8;
/** Bytes of one row of such a panel. */
export const PANEL_BYTES: number = 4 * PANEL;
/** Rows that are multiplied at once; tiles of rows have room for a multiple of it. */
export const STRIP: number = 4;

/** The next multiple of `PANEL`. */
export function padded(n: number): number {
  return Math.ceil(n / PANEL) * PANEL;
}
