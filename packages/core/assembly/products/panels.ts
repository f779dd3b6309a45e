import { block } from './block';
import { transpose } from './pack';
import { PANEL, PANEL_BYTES, STRIP } from '../vector/vector';

/** Columns and depth of the block of B that stays in the innermost cache while rows of A stream past it. */
const COLUMNS: i32 = 64;
const DEPTH: i32 = 128;

/** Bytes per step of the depth in a strip. */
const STRIP_BYTES: usize = <usize>STRIP * 4;

/**
 * Packs A (m × k) into strips for every section of the depth: in a strip, `STRIP` rows are stored side by
 * side for every d. The lines of A, `ld` bytes apart, are its rows, or its columns if `transposed`; rows are
 * read up to a multiple of `STRIP`. Lines are read from end to end and cache lines written whole, because
 * both are often a power of two apart and compete for the same cache sets.
 */
export function packStrips(m: i32, k: i32, source: usize, ld: usize, transposed: bool, target: usize): void {
  if (transposed) {
    for (let d = 0; d < k; d += DEPTH) {
      packColumnsOfStrips(m, min(DEPTH, k - d), source + <usize>d * ld, ld, target + sectionBytes(m, d));
    }
  } else {
    for (let i = 0; i < m; i += STRIP) {
      for (let d = 0; d < k; d += DEPTH) {
        const depth = min(DEPTH, k - d);
        const to = target + sectionBytes(m, d) + <usize>i * <usize>depth * 4;
        packRowsOfStrip(depth, source + <usize>i * ld + <usize>d * 4, ld, to);
      }
    }
  }
}

/** The bytes of the strips of a section of the depth. */
@inline function sectionBytes(m: i32, depth: i32): usize {
  return <usize>((m + STRIP - 1) / STRIP) * <usize>depth * STRIP_BYTES;
}

/** Packs the columns of a section, four lines at a time. */
function packColumnsOfStrips(m: i32, depth: i32, source: usize, ld: usize, target: usize): void {
  const stripBytes = <usize>depth * STRIP_BYTES;
  for (let d = 0; d < depth; ) {
    const lines: usize = depth - d < 4 ? 1 : 4;
    let from = source + <usize>d * ld;
    let to = target + <usize>d * STRIP_BYTES;
    for (let i = 0; i < m; i += STRIP) {
      v128.store(to, v128.load(from));
      if (lines > 1) {
        v128.store(to, v128.load(from + ld), 16);
        v128.store(to, v128.load(from + 2 * ld), 32);
        v128.store(to, v128.load(from + 3 * ld), 48);
      }
      from += 16;
      to += stripBytes;
    }
    d += <i32>lines;
  }
}

/** Packs the rows of one strip in a section. */
function packRowsOfStrip(depth: i32, rows: usize, ld: usize, target: usize): void {
  let to = target;
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

/**
 * C = A·B for A (m × k, with k at least 1), row-major with rows `lda` bytes apart, or in strips if `lda` is
 * 0; the panels of B; and C (m × n), row-major. Products are summed in sections of `DEPTH`. A block at the
 * last rows or columns, part of which is outside C, is computed in the 128 bytes after the panels of B.
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
  const spare = b + <usize>((n + PANEL - 1) / PANEL) * panelBytes;
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
      let ai = a + (lda ? <usize>d * 4 : sectionBytes(m, d));
      // The first section is not added to anything.
      const before = i32x4.splat(d ? -1 : 0);
      for (let i = 0; i < m; i += STRIP) {
        let from = bd;
        let to = cj + <usize>i * ldc;
        for (const end = to + width; to < end; to += PANEL_BYTES) {
          const last = from + depthBytes;
          const isWhole = i + STRIP <= m && to + PANEL_BYTES <= end;
          const at = isWhole ? to : spare;
          const ld = isWhole ? ldc : PANEL_BYTES;
          if (!isWhole && d) copyPart(m - i, end - to, to, ldc, spare, PANEL_BYTES);
          if (lda) block(ai, lda, 4, from, last, at, ld, before, false, true);
          else block(ai, 4, STRIP_BYTES, from, last, at, ld, before, true, true);
          if (!isWhole) copyPart(m - i, end - to, spare, PANEL_BYTES, to, ldc);
          from += panelBytes;
        }
        ai += stripBytes;
      }
      d += DEPTH;
    } while (d < k);
  }
}

/** Copies at most a block: as many of its rows, and bytes of each row, as there are. */
function copyPart(rows: i32, bytes: usize, from: usize, ldFrom: usize, to: usize, ldTo: usize): void {
  bytes = min(bytes, PANEL_BYTES);
  for (let r = min(rows, STRIP); r > 0; r--) {
    for (let at: usize = 0; at < bytes; at += 4) store<f32>(to + at, load<f32>(from + at));
    from += ldFrom;
    to += ldTo;
  }
}
