import { exponential } from './exponential';

/**
 * Lines of f32, of which element-wise expressions and reductions are made: one operator on `count` numbers
 * after the other, from `a` (and `b`) to `out`, which may be the same. Counts are rounded up to a multiple of
 * 4. A truth value is 1 or 0.
 */

const ADD: i32 = 0;
const SUB: i32 = 1;
const MUL: i32 = 2;
const DIV: i32 = 3;
const MIN: i32 = 4;
const MAX: i32 = 5;
const LESS: i32 = 6;
const LESS_EQUAL: i32 = 7;
const EQUAL: i32 = 8;

@inline function pair(op: i32, x: v128, y: v128): v128 {
  if (op == ADD) return f32x4.add(x, y);
  if (op == SUB) return f32x4.sub(x, y);
  if (op == MUL) return f32x4.mul(x, y);
  if (op == DIV) return f32x4.div(x, y);
  if (op == MIN) return f32x4.min(x, y);
  if (op == MAX) return f32x4.max(x, y);
  const holds = op == LESS ? f32x4.lt(x, y) : op == LESS_EQUAL ? f32x4.le(x, y) : f32x4.eq(x, y);
  return v128.and(holds, f32x4.splat(1));
}

@inline function forPairs(op: i32, count: i32, a: usize, b: usize, out: usize): void {
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    v128.store(out + at, pair(op, v128.load(a + at), v128.load(b + at)));
  }
}

export function addLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(ADD, count, a, b, out);
}
export function subLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(SUB, count, a, b, out);
}
export function mulLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(MUL, count, a, b, out);
}
export function divLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(DIV, count, a, b, out);
}
export function minLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(MIN, count, a, b, out);
}
export function maxLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(MAX, count, a, b, out);
}
export function lessLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(LESS, count, a, b, out);
}
export function lessEqualLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(LESS_EQUAL, count, a, b, out);
}
export function equalLines(count: i32, a: usize, b: usize, out: usize): void {
  forPairs(EQUAL, count, a, b, out);
}

/** What stands in `a` where the condition is not 0, else what stands in `b`. */
export function selectLines(count: i32, condition: usize, a: usize, b: usize, out: usize): void {
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    const holds = f32x4.ne(v128.load(condition + at), f32x4.splat(0));
    v128.store(out + at, v128.bitselect(v128.load(a + at), v128.load(b + at), holds));
  }
}

export function sqrtLine(count: i32, a: usize, out: usize): void {
  for (let at: usize = 0; at < <usize>count * 4; at += 16) v128.store(out + at, f32x4.sqrt(v128.load(a + at)));
}

export function negLine(count: i32, a: usize, out: usize): void {
  for (let at: usize = 0; at < <usize>count * 4; at += 16) v128.store(out + at, f32x4.neg(v128.load(a + at)));
}

export function absLine(count: i32, a: usize, out: usize): void {
  for (let at: usize = 0; at < <usize>count * 4; at += 16) v128.store(out + at, f32x4.abs(v128.load(a + at)));
}

export function expLine(count: i32, a: usize, out: usize): void {
  const two32 = f32x4.splat(4294967296.0);
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    const x = v128.load(a + at);
    // The exponent of 2^n must not overflow before the result does.
    const large = f32x4.gt(x, f32x4.splat(80));
    const reduced = f32x4.sub(x, v128.and(large, f32x4.splat(22.180709777918249)));
    const y = exponential(f32x4.pmin(reduced, f32x4.splat(88)));
    v128.store(out + at, f32x4.mul(y, v128.bitselect(two32, f32x4.splat(1), large)));
  }
}

/**
 * (1 − t) / (1 + t) with t = e^(−2|x|), and near 0, where that cancels, the Taylor series: errors stay below
 * 3e-7 relative.
 */
export function tanhLine(count: i32, a: usize, out: usize): void {
  const one = f32x4.splat(1);
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    const x = v128.load(a + at);
    const t = exponential(f32x4.mul(f32x4.abs(x), f32x4.splat(-2)));
    const far = f32x4.div(f32x4.sub(one, t), f32x4.add(one, t));
    const x2 = f32x4.mul(x, x);
    let series = f32x4.add(f32x4.splat(-17.0 / 315.0), f32x4.mul(x2, f32x4.splat(62.0 / 2835.0)));
    series = f32x4.add(f32x4.splat(2.0 / 15.0), f32x4.mul(x2, series));
    series = f32x4.add(f32x4.splat(-1.0 / 3.0), f32x4.mul(x2, series));
    const near = f32x4.add(x, f32x4.mul(x, f32x4.mul(x2, series)));
    const signed = v128.or(far, v128.and(x, f32x4.splat(-0.0)));
    v128.store(out + at, v128.bitselect(near, signed, f32x4.lt(f32x4.abs(x), f32x4.splat(0.25))));
  }
}

/** Abramowitz and Stegun 7.1.26, and below 1/2 the Taylor series: errors stay below 6e-7 relative. */
export function erfLine(count: i32, a: usize, out: usize): void {
  const one = f32x4.splat(1);
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    const x = v128.load(a + at);
    const x2 = f32x4.mul(x, x);
    const t = f32x4.div(one, f32x4.add(one, f32x4.mul(f32x4.splat(0.3275911), f32x4.abs(x))));
    let p = f32x4.add(f32x4.splat(-1.453152027), f32x4.mul(t, f32x4.splat(1.061405429)));
    p = f32x4.add(f32x4.splat(1.421413741), f32x4.mul(t, p));
    p = f32x4.add(f32x4.splat(-0.284496736), f32x4.mul(t, p));
    p = f32x4.mul(t, f32x4.add(f32x4.splat(0.254829592), f32x4.mul(t, p)));
    const far = f32x4.sub(one, f32x4.mul(p, exponential(f32x4.neg(x2))));
    let series = f32x4.add(f32x4.splat(-1.0 / 1320.0), f32x4.mul(x2, f32x4.splat(1.0 / 9360.0)));
    series = f32x4.add(f32x4.splat(1.0 / 216.0), f32x4.mul(x2, series));
    series = f32x4.add(f32x4.splat(-1.0 / 42.0), f32x4.mul(x2, series));
    series = f32x4.add(f32x4.splat(1.0 / 10.0), f32x4.mul(x2, series));
    series = f32x4.add(f32x4.splat(-1.0 / 3.0), f32x4.mul(x2, series));
    const near = f32x4.mul(f32x4.mul(x, f32x4.splat(1.1283791670955126)), f32x4.add(one, f32x4.mul(x2, series)));
    const signed = v128.or(far, v128.and(x, f32x4.splat(-0.0)));
    v128.store(out + at, v128.bitselect(near, signed, f32x4.lt(f32x4.abs(x), f32x4.splat(0.5))));
  }
}

/** Σ of exactly `count` numbers, in f64. */
export function sumLine(count: i32, a: usize): f64 {
  let low = f64x2.splat(0);
  let high = low;
  let at = a;
  const end = a + <usize>count * 4;
  for (; at + 16 <= end; at += 16) {
    const x = v128.load(at);
    low = f64x2.add(low, f64x2.promote_low_f32x4(x));
    high = f64x2.add(high, f64x2.promote_low_f32x4(v128.shuffle<i64>(x, x, 1, 0)));
  }
  const both = f64x2.add(low, high);
  let sum = f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1);
  for (; at < end; at += 4) sum += <f64>load<f32>(at);
  return sum;
}

/** Adds each number to its own sum, in f64. */
export function addToSums(count: i32, a: usize, sums: usize): void {
  for (let n: usize = 0; n < <usize>count; n += 4) {
    const x = v128.load(a + 4 * n);
    const to = sums + 8 * n;
    v128.store(to, f64x2.add(v128.load(to), f64x2.promote_low_f32x4(x)));
    const high = f64x2.promote_low_f32x4(v128.shuffle<i64>(x, x, 1, 0));
    v128.store(to, f64x2.add(v128.load(to, 16), high), 16);
  }
}
