import { PANEL, PANEL_BYTES, sumOfLanes } from '../vector/vector';

/**
 * The number of rows that go to a panel before the next one. One row would write half a cache line, and
 * panels are often a power of two apart, so that the line would leave the cache before its other half is
 * written; more rows than a cache set has lines would displace each other in the source.
 */
const ROWS: i32 = 8;

/**
 * Packs row-major rows (`ld` bytes apart) into panels whose depth is the rows: element (s, d) goes to panel
 * ⌊d / 8⌋, row s. `width` is a multiple of 8, and the panels are `panelBytes` apart. Returns whether all
 * elements are finite: 0·x is 0 for a finite x and NaN for any other.
 */
export function packRows(
  count: i32,
  width: i32,
  source: usize,
  ld: usize,
  target: usize,
  panelBytes: usize,
): bool {
  const none = f32x4.splat(0);
  let zero = none;
  for (let s = 0; s < count; s += ROWS) {
    const bytes = <usize>min(ROWS, count - s) * PANEL_BYTES;
    const rows = source + <usize>s * ld;
    let panel = target + <usize>s * PANEL_BYTES;
    for (let column = rows; column < rows + <usize>width * 4; column += PANEL_BYTES) {
      let from = column;
      for (let to = panel; to < panel + bytes; to += PANEL_BYTES) {
        const x = v128.load(from);
        const y = v128.load(from, 16);
        v128.store(to, x);
        v128.store(to, y, 16);
        zero = f32x4.add(zero, f32x4.add(f32x4.mul(x, none), f32x4.mul(y, none)));
        from += ld;
      }
      panel += panelBytes;
    }
  }
  return sumOfLanes(zero) == 0;
}

/**
 * Packs the rows into panels whose depth is the head size: element (s, d) goes to panel ⌊s / 8⌋, row d.
 * `count` is a multiple of 8.
 */
export function packColumns(count: i32, depth: i32, source: usize, ld: usize, target: usize): void {
  for (let s = 0; s < count; s += 4) {
    const rows = source + <usize>s * ld;
    const to = target + <usize>(s / PANEL) * <usize>depth * PANEL_BYTES + <usize>(s % PANEL) * 4;
    let d = 0;
    for (; d + 4 <= depth; d += 4) {
      const from = rows + <usize>d * 4;
      transpose(from, ld, to + <usize>d * PANEL_BYTES, PANEL_BYTES);
    }
    for (; d < depth; d++) {
      for (let r = 0; r < 4; r++) {
        const x = load<f32>(rows + <usize>r * ld + <usize>d * 4);
        store<f32>(to + <usize>d * PANEL_BYTES + <usize>r * 4, x);
      }
    }
  }
}

/** Transposes a block of 4 × 4, from rows `ld` bytes apart to rows `step` bytes apart. */
@inline export function transpose(from: usize, ld: usize, to: usize, step: usize): void {
  const a = v128.load(from);
  const b = v128.load(from + ld);
  const c = v128.load(from + 2 * ld);
  const d = v128.load(from + 3 * ld);
  const ab01 = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const ab23 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd01 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const cd23 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f64>(ab01, cd01, 0, 2));
  v128.store(to + step, v128.shuffle<f64>(ab01, cd01, 1, 3));
  v128.store(to + 2 * step, v128.shuffle<f64>(ab23, cd23, 0, 2));
  v128.store(to + 3 * step, v128.shuffle<f64>(ab23, cd23, 1, 3));
}
