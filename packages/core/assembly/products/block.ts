import { PANEL_BYTES, multiplyAdd } from '../vector/vector';

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

/**
 * One block of 4 × 8 of a product A·B whose depth is at least 1: two loads of B and four broadcasts of A feed
 * eight multiply-adds, and the results stay in eight registers. A larger block would spill. Element (r, k) of
 * A is at a + r·row + k·step bytes. With `transposed`, `row` is 4 bytes, so that one pointer serves all four
 * rows; otherwise `step` is 4 bytes.
 *
 * The loop is written for the V8 of Node 20, which otherwise moves the six loads of a step in front of its
 * products, and takes a sixth longer. The loads stay between the products if paths join after the step,
 * which is what `if (c)` is for (c is an address, never 0), and if the rows come in the reverse order of the
 * first step. An iteration takes four steps where every row has a pointer to advance, and two where one
 * pointer serves all rows.
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
  add: bool,
): void {
  let a1 = a + row;
  let a2 = a1 + row;
  let a3 = a2 + row;
  let b0 = v128.load(b);
  let b1 = v128.load(b, 16);
  let w0 = v128.load32_splat(a);
  let c00 = f32x4.mul(w0, b0);
  let c01 = f32x4.mul(w0, b1);
  let w1 = transposed ? v128.load32_splat(a, 4) : v128.load32_splat(a1);
  let c10 = f32x4.mul(w1, b0);
  let c11 = f32x4.mul(w1, b1);
  let w2 = transposed ? v128.load32_splat(a, 8) : v128.load32_splat(a2);
  let c20 = f32x4.mul(w2, b0);
  let c21 = f32x4.mul(w2, b1);
  let w3 = transposed ? v128.load32_splat(a, 12) : v128.load32_splat(a3);
  let c30 = f32x4.mul(w3, b0);
  let c31 = f32x4.mul(w3, b1);
  a += step;
  a1 += step;
  a2 += step;
  a3 += step;
  b += PANEL_BYTES;
  const steps: usize = transposed ? 2 : 4;
  const end2 = end - 2 * PANEL_BYTES;
  const end3 = end - 3 * PANEL_BYTES;
  while (b < end) {
    if (c) {
      b0 = v128.load(b);
      b1 = v128.load(b, 16);
      w3 = transposed ? v128.load32_splat(a, 12) : v128.load32_splat(a3);
      c30 = multiplyAdd(c30, w3, b0);
      c31 = multiplyAdd(c31, w3, b1);
      w2 = transposed ? v128.load32_splat(a, 8) : v128.load32_splat(a2);
      c20 = multiplyAdd(c20, w2, b0);
      c21 = multiplyAdd(c21, w2, b1);
      w1 = transposed ? v128.load32_splat(a, 4) : v128.load32_splat(a1);
      c10 = multiplyAdd(c10, w1, b0);
      c11 = multiplyAdd(c11, w1, b1);
      w0 = v128.load32_splat(a);
      c00 = multiplyAdd(c00, w0, b0);
      c01 = multiplyAdd(c01, w0, b1);
    }
    if (transposed) a += step;
    if (b + PANEL_BYTES < end) {
      b0 = v128.load(b, 32);
      b1 = v128.load(b, 48);
      w3 = transposed ? v128.load32_splat(a, 12) : v128.load32_splat(a3, 4);
      c30 = multiplyAdd(c30, w3, b0);
      c31 = multiplyAdd(c31, w3, b1);
      w2 = transposed ? v128.load32_splat(a, 8) : v128.load32_splat(a2, 4);
      c20 = multiplyAdd(c20, w2, b0);
      c21 = multiplyAdd(c21, w2, b1);
      w1 = transposed ? v128.load32_splat(a, 4) : v128.load32_splat(a1, 4);
      c10 = multiplyAdd(c10, w1, b0);
      c11 = multiplyAdd(c11, w1, b1);
      w0 = transposed ? v128.load32_splat(a) : v128.load32_splat(a, 4);
      c00 = multiplyAdd(c00, w0, b0);
      c01 = multiplyAdd(c01, w0, b1);
    }
    if (steps > 2) {
      if (b < end2) {
        b0 = v128.load(b, 64);
        b1 = v128.load(b, 80);
        w3 = v128.load32_splat(a3, 8);
        c30 = multiplyAdd(c30, w3, b0);
        c31 = multiplyAdd(c31, w3, b1);
        w2 = v128.load32_splat(a2, 8);
        c20 = multiplyAdd(c20, w2, b0);
        c21 = multiplyAdd(c21, w2, b1);
        w1 = v128.load32_splat(a1, 8);
        c10 = multiplyAdd(c10, w1, b0);
        c11 = multiplyAdd(c11, w1, b1);
        w0 = v128.load32_splat(a, 8);
        c00 = multiplyAdd(c00, w0, b0);
        c01 = multiplyAdd(c01, w0, b1);
      }
      if (b < end3) {
        b0 = v128.load(b, 96);
        b1 = v128.load(b, 112);
        w3 = v128.load32_splat(a3, 12);
        c30 = multiplyAdd(c30, w3, b0);
        c31 = multiplyAdd(c31, w3, b1);
        w2 = v128.load32_splat(a2, 12);
        c20 = multiplyAdd(c20, w2, b0);
        c21 = multiplyAdd(c21, w2, b1);
        w1 = v128.load32_splat(a1, 12);
        c10 = multiplyAdd(c10, w1, b0);
        c11 = multiplyAdd(c11, w1, b1);
        w0 = v128.load32_splat(a, 12);
        c00 = multiplyAdd(c00, w0, b0);
        c01 = multiplyAdd(c01, w0, b1);
      }
    }
    if (transposed) a += step;
    else {
      a += steps * 4;
      a1 += steps * 4;
      a2 += steps * 4;
      a3 += steps * 4;
    }
    b += steps * PANEL_BYTES;
  }
  storeRow(c, c00, c01, factor, add);
  storeRow(c + ldc, c10, c11, factor, add);
  storeRow(c + 2 * ldc, c20, c21, factor, add);
  storeRow(c + 3 * ldc, c30, c31, factor, add);
}

/**
 * Adds a block to C in the order of `block`, except that a weight of 0 in A adds nothing, whatever its row of
 * B contains. The function takes longer than `block`, so it is called only for a B that is not finite.
 */
export function addGuardedBlock(
  a: usize,
  row: usize,
  step: usize,
  b: usize,
  end: usize,
  c: usize,
  ldc: usize,
): void {
  const all = i32x4.splat(-1);
  for (let r = 0; r < 4; r++) {
    // The sum of −0 and the first product is that product.
    let x = f32x4.splat(-0.0);
    let y = x;
    for (let at = b, from = a; at < end; at += PANEL_BYTES, from += step) {
      const weight = v128.load32_splat(from);
      const guard = f32x4.ne(weight, f32x4.splat(0));
      x = multiplyAdd(x, weight, v128.and(v128.load(at), guard));
      y = multiplyAdd(y, weight, v128.and(v128.load(at, 16), guard));
    }
    storeRow(c, x, y, all, true);
    a += row;
    c += ldc;
  }
}
