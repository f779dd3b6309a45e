/**
 * Lists the updates of each row of an output. `first` gets, for each of the output's rows, the number of the
 * first update whose index is the row, and `next`, for each of `count` updates, the number of the next update
 * with the same index; −1 ends a list. Indices outside the output are ignored.
 */
export function listUpdates(count: i32, rows: i32, indices: usize, first: usize, next: usize): void {
  memory.fill(first, 0xff, <usize>rows * 4);
  for (let n = count - 1; n >= 0; n--) {
    const row = load<i32>(indices + <usize>n * 4);
    if (<u32>row >= <u32>rows) continue;
    const head = first + <usize>row * 4;
    store<i32>(next + <usize>n * 4, load<i32>(head));
    store<i32>(head, n);
  }
}

/**
 * Computes rows `from` to `to` of an output of `width` f32 per row: each is the sum of its listed updates, in
 * f64 and in their order, rounded once.
 */
export function sumUpdates(
  from: i32,
  to: i32,
  width: i32,
  first: usize,
  next: usize,
  updates: usize,
  ld: usize,
  output: usize,
  ldOutput: usize,
): void {
  for (let row = from; row < to; row++) {
    const head = load<i32>(first + <usize>row * 4);
    let at = output + <usize>row * ldOutput;
    if (head < 0) {
      memory.fill(at, 0, <usize>width * 4);
      continue;
    }
    let column = updates;
    let d = 0;
    for (; d + 4 <= width; d += 4) {
      let low = f64x2.splat(0);
      let high = low;
      for (let n = head; n >= 0; n = load<i32>(next + <usize>n * 4)) {
        const x = v128.load(column + <usize>n * ld);
        low = f64x2.add(low, f64x2.promote_low_f32x4(x));
        high = f64x2.add(high, f64x2.promote_low_f32x4(v128.shuffle<i64>(x, x, 1, 0)));
      }
      const sums = v128.shuffle<i64>(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2);
      v128.store(at, sums);
      column += 16;
      at += 16;
    }
    for (; d < width; d++) {
      let sum: f64 = 0;
      for (let n = head; n >= 0; n = load<i32>(next + <usize>n * 4)) sum += <f64>load<f32>(column + <usize>n * ld);
      store<f32>(at, <f32>sum);
      column += 4;
      at += 4;
    }
  }
}
