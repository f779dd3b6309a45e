import { PANEL, PANEL_BYTES, STRIP } from '../vector/vector';
import { addGuardedBlock, block } from './block';
import { stripEnd, stripRowsEnd, stripRowsStart, stripStart } from '../scores/ranges';

/**
 * The three products of attention. A is read in place; B is in panels: `PANEL` columns side by side for every
 * k of the depth.
 *
 * `guarded` is for panels of B with NaN or infinities: a weight of 0 in A then adds nothing, whatever its row
 * of B contains. The order of sums is the same either way, so garbage behind a mask does not even change a
 * rounding.
 */

/**
 * C = factor · A·B for a tile of scores: A (m × depth) row-major, B the panels of `n` keys, C row-major. If
 * `ranges` is not 0, row i is only wanted at the columns of its range, and blocks that none of their rows
 * wants are not written.
 */
export function multiplyScores(
  m: i32,
  n: i32,
  depth: i32,
  a: usize,
  lda: usize,
  b: usize,
  c: usize,
  ldc: usize,
  factor: f32,
  ranges: usize,
  j0: i32,
): void {
  const panelBytes = <usize>depth * PANEL_BYTES;
  const factors = f32x4.splat(factor);
  for (let i = 0; i < m; i += STRIP) {
    const from = ranges ? stripStart(ranges, i, m, j0, n) & ~(PANEL - 1) : 0;
    const to = ranges ? stripEnd(ranges, i, m, j0, n) : n;
    const ai = a + <usize>i * lda;
    let bj = b + <usize>(from / PANEL) * panelBytes;
    let cj = c + <usize>i * ldc + <usize>from * 4;
    for (const end = cj + <usize>(to - from) * 4; cj < end; cj += PANEL_BYTES) {
      block(ai, lda, 4, bj, bj + panelBytes, cj, ldc, factors, false, false);
      bj += panelBytes;
    }
  }
}

/**
 * C += A·B for a tile A (m × depth) of weights, row-major: C is `n` wide, and the same number of columns of B
 * are in panels `panelBytes` apart. If `ranges` is not 0, the weights of row i are 0 outside its range.
 */
export function addProduct(
  m: i32,
  n: i32,
  depth: i32,
  a: usize,
  lda: usize,
  b: usize,
  panelBytes: usize,
  c: usize,
  ldc: usize,
  ranges: usize,
  j0: i32,
  guarded: bool,
): void {
  const all = i32x4.splat(-1);
  for (let i = 0; i < m; i += STRIP) {
    const from = ranges ? stripStart(ranges, i, m, j0, depth) : 0;
    const to = ranges ? stripEnd(ranges, i, m, j0, depth) : depth;
    if (from >= to) continue;
    const ai = a + <usize>i * lda + <usize>from * 4;
    const depthBytes = <usize>(to - from) * PANEL_BYTES;
    let bd = b + <usize>from * PANEL_BYTES;
    let cd = c + <usize>i * ldc;
    for (const end = cd + <usize>n * 4; cd < end; cd += PANEL_BYTES) {
      if (guarded) addGuardedBlock(ai, lda, 4, bd, bd + depthBytes, cd, ldc);
      else block(ai, lda, 4, bd, bd + depthBytes, cd, ldc, all, false, true);
      bd += panelBytes;
    }
  }
}

/**
 * C += Aᵀ·B for a tile A (depth × m) of weights, row-major; otherwise like `addProduct`, with ranges of the
 * rows of A.
 */
export function addTransposedProduct(
  m: i32,
  n: i32,
  depth: i32,
  a: usize,
  lda: usize,
  b: usize,
  panelBytes: usize,
  c: usize,
  ldc: usize,
  ranges: usize,
  j0: i32,
  guarded: bool,
): void {
  const all = i32x4.splat(-1);
  for (let j = 0; j < m; j += STRIP) {
    const from = ranges ? stripRowsStart(ranges, depth, j0 + j) : 0;
    const to = ranges ? stripRowsEnd(ranges, depth, j0 + j) : depth;
    if (from >= to) continue;
    const aj = a + <usize>from * lda + <usize>j * 4;
    const depthBytes = <usize>(to - from) * PANEL_BYTES;
    let bd = b + <usize>from * PANEL_BYTES;
    let cd = c + <usize>j * ldc;
    for (const end = cd + <usize>n * 4; cd < end; cd += PANEL_BYTES) {
      if (guarded) addGuardedBlock(aj, 4, lda, bd, bd + depthBytes, cd, ldc);
      else block(aj, 4, lda, bd, bd + depthBytes, cd, ldc, all, true, true);
      bd += panelBytes;
    }
  }
}
