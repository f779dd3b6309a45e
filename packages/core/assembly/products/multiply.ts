import { PANEL, PANEL_BYTES, STRIP, multiplyAdd } from '../vector/vector';
import { stripEnd, stripRowsEnd, stripRowsStart, stripStart } from '../scores/ranges';

/**
 * The three products of attention. A is read in place; B is in panels: `PANEL` columns side by side for every
 * k of the depth. The inner loop keeps a block of 4 × 8 results in eight registers, so two loads of B and
 * four broadcasts of A feed eight multiply-adds; a larger block would spill, and so would an unrolled loop.
 *
 * `guarded` is for panels of B with NaN or infinities: a weight of 0 in A then adds nothing, whatever its row
 * of B contains. The order of sums is the same either way, so garbage behind a mask does not even change a
 * rounding.
 */

/**
 * A block of results becomes the product times a factor or, with `add`, its previous value plus the product;
 * the factor is then a mask of the previous value.
 */
@inline function storeRow(c: usize, x: v128, y: v128, factor: v128, add: bool): void {
  if (add) {
    v128.store(c, f32x4.add(v128.and(v128.load(c), factor), x));
    v128.store(c, f32x4.add(v128.and(v128.load(c, 16), factor), y), 16);
  } else {
    v128.store(c, f32x4.mul(x, factor));
    v128.store(c, f32x4.mul(y, factor), 16);
  }
}

@inline function guard(weight: v128, b: v128, guarded: bool): v128 {
  return guarded ? v128.and(b, f32x4.ne(weight, f32x4.splat(0))) : b;
}

/**
 * One block of 4 × 8. Element (r, k) of A is at a + r·row + k·step bytes. `transposed` means that `row` is 4
 * bytes, so that one pointer serves all four rows.
 */
@inline export function block(
  a: usize,
  row: usize,
  step: usize,
  b: usize,
  end: usize,
  c: usize,
  ldc: usize,
  factor: v128,
  transposed: bool,
  guarded: bool,
  add: bool,
): void {
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  let a1 = a + row;
  let a2 = a1 + row;
  let a3 = a2 + row;
  while (b < end) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const w0 = v128.load32_splat(a);
    c00 = multiplyAdd(c00, w0, guard(w0, b0, guarded));
    c01 = multiplyAdd(c01, w0, guard(w0, b1, guarded));
    const w1 = transposed ? v128.load32_splat(a, 4) : v128.load32_splat(a1);
    c10 = multiplyAdd(c10, w1, guard(w1, b0, guarded));
    c11 = multiplyAdd(c11, w1, guard(w1, b1, guarded));
    const w2 = transposed ? v128.load32_splat(a, 8) : v128.load32_splat(a2);
    c20 = multiplyAdd(c20, w2, guard(w2, b0, guarded));
    c21 = multiplyAdd(c21, w2, guard(w2, b1, guarded));
    const w3 = transposed ? v128.load32_splat(a, 12) : v128.load32_splat(a3);
    c30 = multiplyAdd(c30, w3, guard(w3, b0, guarded));
    c31 = multiplyAdd(c31, w3, guard(w3, b1, guarded));
    a += step;
    if (!transposed) {
      a1 += step;
      a2 += step;
      a3 += step;
    }
    b += PANEL_BYTES;
  }
  storeRow(c, c00, c01, factor, add);
  storeRow(c + ldc, c10, c11, factor, add);
  storeRow(c + 2 * ldc, c20, c21, factor, add);
  storeRow(c + 3 * ldc, c30, c31, factor, add);
}

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
      block(ai, lda, 4, bj, bj + panelBytes, cj, ldc, factors, false, false, false);
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
      if (guarded) block(ai, lda, 4, bd, bd + depthBytes, cd, ldc, all, false, true, true);
      else block(ai, lda, 4, bd, bd + depthBytes, cd, ldc, all, false, false, true);
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
      if (guarded) block(aj, 4, lda, bd, bd + depthBytes, cd, ldc, all, true, true, true);
      else block(aj, 4, lda, bd, bd + depthBytes, cd, ldc, all, true, false, true);
      bd += panelBytes;
    }
  }
}
