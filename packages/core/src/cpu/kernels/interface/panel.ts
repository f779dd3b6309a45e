/**
 * The columns that are stored side by side in a panel of B; head sizes and tiles are padded to a multiple.
 */
export const PANEL: number = 8;
/** Bytes of one row of such a panel. */
export const PANEL_BYTES: number = 4 * PANEL;
/** The rows that are multiplied at once; tiles have memory for a multiple of this number of rows. */
export const STRIP: number = 4;
/** The numbers of a block of results that is computed at once. */
export const BLOCK: number = STRIP * PANEL;

/** The next multiple of `PANEL`. */
export function padded(n: number): number {
  return Math.ceil(n / PANEL) * PANEL;
}
