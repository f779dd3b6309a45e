import { tanhLanes } from '../vector/lanes';

/**
 * Softcap of `count` scores (a multiple of 4): x becomes c·tanh(x / c). Stores tanh(x / c) at `kept`, unless
 * that is 0.
 */
export function capScores(count: i32, scores: usize, kept: usize, cap: f32): void {
  const factor = f32x4.splat(cap);
  const inverse = f32x4.splat(1 / cap);
  for (let at: usize = 0; at < <usize>count * 4; at += 16) {
    const tanh = tanhLanes(f32x4.mul(v128.load(scores + at), inverse));
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
