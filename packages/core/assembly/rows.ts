import { multiplyAdd, sumOfLanes } from './vector/vector';

/**
 * Divides each of m rows (`width` f32, a multiple of 4) by its f64 divisor; rows whose divisor is 0 do not
 * change.
 */
export function divideRows(m: i32, width: i32, rows: usize, ld: usize, divisors: usize): void {
  for (let i = 0; i < m; i++) {
    const divisor = <f32>load<f64>(divisors + <usize>i * 8);
    if (divisor == 0) continue;
    const by = f32x4.splat(divisor);
    const row = rows + <usize>i * ld;
    for (let at = row; at < row + <usize>width * 4; at += 16) v128.store(at, f32x4.div(v128.load(at), by));
  }
}

/** The dot product of each row of a with the same row of b, as f64. */
export function dotRows(m: i32, width: i32, a: usize, lda: usize, b: usize, ldb: usize, out: usize): void {
  for (let i = 0; i < m; i++) {
    let sum = f32x4.splat(0);
    for (let at: usize = 0; at < <usize>width * 4; at += 16) {
      sum = multiplyAdd(sum, v128.load(a + at), v128.load(b + at));
    }
    store<f64>(out + <usize>i * 8, sumOfLanes(sum));
    a += lda;
    b += ldb;
  }
}

/** Multiplies each of m rows (`width` f32, a multiple of 4) by a factor. */
export function scaleRows(m: i32, width: i32, rows: usize, ld: usize, factor: f32): void {
  const factors = f32x4.splat(factor);
  for (let i = 0; i < m; i++) {
    const row = rows + <usize>i * ld;
    for (let at = row; at < row + <usize>width * 4; at += 16) {
      v128.store(at, f32x4.mul(v128.load(at), factors));
    }
  }
}

/** Adds each of m rows (`width` f32, a multiple of 4) to its row at `sums`. */
export function addRows(m: i32, width: i32, rows: usize, sums: usize, ld: usize): void {
  for (let i = 0; i < m; i++) {
    const row = <usize>i * ld;
    for (let at = row; at < row + <usize>width * 4; at += 16) {
      v128.store(sums + at, f32x4.add(v128.load(sums + at), v128.load(rows + at)));
    }
  }
}
