import { block } from './multiply';
import { PANEL, PANEL_BYTES, STRIP } from './vector';

/** Columns and depth of the block of B that stays in the innermost cache while rows of A go by. */
const COLUMNS: i32 = 64;
const DEPTH: i32 = 128;

/**
 * C = A·B for A (m × k), of which element (i, d) is at a + i·aRow + d·aStep bytes and one of aRow and aStep
 * is 4, the panels of B, and C row-major, whose n columns are a multiple of 8; rows are written up to a
 * multiple of 4. Products are summed in stretches of `DEPTH`.
 */
export function multiplyPanels(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  aRow: usize,
  aStep: usize,
  b: usize,
  c: usize,
  ldc: usize,
): void {
  const panelBytes = <usize>k * PANEL_BYTES;
  for (let j0 = 0; j0 < n; j0 += COLUMNS) {
    const width = <usize>min(COLUMNS, n - j0) * 4;
    const bj = b + <usize>(j0 / PANEL) * panelBytes;
    const cj = c + <usize>j0 * 4;
    let d = 0;
    do {
      const depthBytes = <usize>min(DEPTH, k - d) * PANEL_BYTES;
      const bd = bj + <usize>d * PANEL_BYTES;
      const ad = a + <usize>d * aStep;
      // The first stretch is added to nothing.
      const before = i32x4.splat(d ? -1 : 0);
      for (let i = 0; i < m; i += STRIP) {
        const ai = ad + <usize>i * aRow;
        let from = bd;
        let to = cj + <usize>i * ldc;
        for (const end = to + width; to < end; to += PANEL_BYTES) {
          const last = from + depthBytes;
          if (aStep == 4) block(ai, aRow, 4, from, last, to, ldc, before, false, false, true);
          else block(ai, 4, aStep, from, last, to, ldc, before, true, false, true);
          from += panelBytes;
        }
      }
      d += DEPTH;
    } while (d < k);
  }
}
