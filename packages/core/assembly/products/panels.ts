import { block } from './block';
import { transpose } from './pack';
import { PANEL, PANEL_BYTES, STRIP } from '../vector/vector';

/** Columns and depth of the block of B that stays in the innermost cache while rows of A stream past it. */
const COLUMNS: i32 = 64;
const DEPTH: i32 = 128;

/** Bytes per step of the depth in a strip. */
const STRIP_BYTES: usize = <usize>STRIP * 4;
/** The number of rows of A that are packed at once: as many as a cache line holds. */
const LINE: i32 = 16;

/**
 * Packs A (m × k) into strips for every section of the depth: in a strip, `STRIP` rows are stored side by
 * side for every d. The lines of A, `ld` bytes apart, are its rows, or its columns if `transposed`; rows are
 * read up to a multiple of `STRIP`.
 */
export function packStrips(m: i32, k: i32, source: usize, ld: usize, transposed: bool, target: usize): void {
  let to = target;
  for (let d0 = 0; d0 < k; d0 += DEPTH) {
    const depth = min(DEPTH, k - d0);
    if (transposed) packColumnsOfStrips(m, depth, source + <usize>d0 * ld, ld, to);
    else packRowsOfStrips(m, depth, source + <usize>d0 * 4, ld, to);
    to += stretchBytes(m, depth);
  }
}

/** The bytes of the strips of a section of the depth. */
@inline function stretchBytes(m: i32, depth: i32): usize {
  return <usize>((m + STRIP - 1) / STRIP) * <usize>depth * STRIP_BYTES;
}

/**
 * Packs a cache line at a time, because lines that are a power of two apart compete for the same cache sets.
 */
function packColumnsOfStrips(m: i32, depth: i32, source: usize, ld: usize, target: usize): void {
  const stripBytes = <usize>depth * STRIP_BYTES;
  for (let i0 = 0; i0 < m; i0 += LINE) {
    const end = min(i0 + LINE, m);
    for (let d = 0; d < depth; d++) {
      const from = source + <usize>d * ld;
      let to = target + <usize>(i0 / STRIP) * stripBytes + <usize>d * STRIP_BYTES;
      for (let i = i0; i < end; i += STRIP) {
        v128.store(to, v128.load(from + <usize>i * 4));
        to += stripBytes;
      }
    }
  }
}

function packRowsOfStrips(m: i32, depth: i32, source: usize, ld: usize, target: usize): void {
  let to = target;
  for (let i = 0; i < m; i += STRIP) {
    const rows = source + <usize>i * ld;
    let d = 0;
    for (; d + 4 <= depth; d += 4) {
      transpose(rows + <usize>d * 4, ld, to, STRIP_BYTES);
      to += 4 * STRIP_BYTES;
    }
    for (; d < depth; d++) {
      for (let r = 0; r < STRIP; r++) {
        store<f32>(to + <usize>r * 4, load<f32>(rows + <usize>r * ld + <usize>d * 4));
      }
      to += STRIP_BYTES;
    }
  }
}

/**
 * C = A·B for A (m × k, with k at least 1), row-major with rows `lda` bytes apart, or in strips if `lda` is
 * 0; the panels of B; and C, row-major, whose n columns are a multiple of 8. Rows are written up to a
 * multiple of 4. Products are summed in sections of `DEPTH`.
 */
export function multiplyPanels(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: usize,
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
      const depth = min(DEPTH, k - d);
      const depthBytes = <usize>depth * PANEL_BYTES;
      const stripBytes = lda ? <usize>STRIP * lda : <usize>depth * STRIP_BYTES;
      const bd = bj + <usize>d * PANEL_BYTES;
      let ai = a + (lda ? <usize>d * 4 : stretchBytes(m, d));
      // The first section is not added to anything.
      const before = i32x4.splat(d ? -1 : 0);
      for (let i = 0; i < m; i += STRIP) {
        let from = bd;
        let to = cj + <usize>i * ldc;
        for (const end = to + width; to < end; to += PANEL_BYTES) {
          const last = from + depthBytes;
          if (lda) block(ai, lda, 4, from, last, to, ldc, before, false, false, true);
          else block(ai, 4, STRIP_BYTES, from, last, to, ldc, before, true, false, true);
          from += panelBytes;
        }
        ai += stripBytes;
      }
      d += DEPTH;
    } while (d < k);
  }
}
