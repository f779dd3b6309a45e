/**
 * Softcap of `count` scores (a multiple of 4): x becomes c·tanh(x / c). Stores tanh(x / c) at `kept`, unless
 * that is 0.
 */
export function capScores(count: i32, scores: usize, kept: usize, cap: f32): void {
  const factor = f32x4.splat(cap);
  const inverse = f32x4.splat(1 / cap);
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    const tanh = tanhOf(f32x4.mul(v128.load(scores + at), inverse));
    if (kept) v128.store(kept + at, tanh);
    v128.store(scores + at, f32x4.mul(tanh, factor));
  }
}

/** Multiplies ds by 1 − tanh², for the last capped scores; a ds of 0 stays 0, whatever tanh is. */
export function uncapGradients(count: i32, ds: usize, kept: usize): void {
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    const x = v128.load(ds + at);
    const tanh = v128.load(kept + at);
    const y = f32x4.sub(x, f32x4.mul(f32x4.mul(x, tanh), tanh));
    v128.store(ds + at, v128.bitselect(y, x, f32x4.ne(x, f32x4.splat(0))));
  }
}

/** A number at which the quotient of `tanhOf` is exactly 1 in f32. */
const LIMIT: f32 = 7.925520896911621;

/**
 * tanh x = x·P(x²) / Q(x²) with x clamped to a number at which the quotient is 1, with the coefficients and
 * the order of operations of `src/cpu/loops/write/transcendental.ts`, and thus the same bits.
 */
@inline function tanhOf(x: v128): v128 {
  const one = f32x4.splat(1);
  const y = f32x4.pmax(f32x4.pmin(x, f32x4.splat(LIMIT)), f32x4.splat(-LIMIT));
  const square = f32x4.mul(y, y);
  let p = f32x4.splat(1.5230380512321062e-8);
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(2.189463521062862e-5));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(0.003571596462279558));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(0.1344449669122696));
  p = f32x4.add(f32x4.mul(p, square), one);
  let q = f32x4.splat(8.522431471646996e-7);
  q = f32x4.add(f32x4.mul(q, square), f32x4.splat(0.00034112893627025187));
  q = f32x4.add(f32x4.mul(q, square), f32x4.splat(0.02616443671286106));
  q = f32x4.add(f32x4.mul(q, square), f32x4.splat(0.4677782356739044));
  q = f32x4.add(f32x4.mul(q, square), one);
  return f32x4.div(f32x4.mul(y, p), q);
}
