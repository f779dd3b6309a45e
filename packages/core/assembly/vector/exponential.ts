import { multiplyAdd, sumOfLanes } from './vector';

/**
 * The constants, each repeated four times. V8 would build a constant vector anew at each use, with
 * instructions on the port that the arithmetic needs.
 */
const LOG2_E: usize = 0;
const FLOOR: usize = 16;
const SHIFTER: usize = 32;
const C0: usize = 48;
const C1: usize = 64;
const C2: usize = 80;
const C3: usize = 96;
const C4: usize = 112;
const C5: usize = 128;
const constants = memory.data<f32>(
  [
    1.4426950408889634, 1.4426950408889634, 1.4426950408889634, 1.4426950408889634,
    // At −127 the exponent becomes 0, and so does the result.
    -127.0, -127.0, -127.0, -127.0,
    // 1.5 · 2^23, which rounds a number that is added to it, and 127, to make an exponent of the lowest bits.
    12583039.0, 12583039.0, 12583039.0, 12583039.0,
    1.0, 1.0, 1.0, 1.0,
    0.6931469775987164, 0.6931469775987164, 0.6931469775987164, 0.6931469775987164,
    0.24022242084635143, 0.24022242084635143, 0.24022242084635143, 0.24022242084635143,
    0.05550733743574232, 0.05550733743574232, 0.05550733743574232, 0.05550733743574232,
    0.009671512688150646, 0.009671512688150646, 0.009671512688150646, 0.009671512688150646,
    0.001326472724711154, 0.001326472724711154, 0.001326472724711154, 0.001326472724711154,
  ],
  16,
);

/**
 * `SCRATCH_BYTES` of `wasm-kernels.ts`: the bytes of the numbers whose 2^n are stored at once while their 2^r
 * are computed.
 */
const CHUNK_BYTES: usize = 256;
/** The address of `CHUNK_BYTES` bytes that only this instance of the module uses. */
@external("env", "scratch") declare const powers: usize;

/**
 * e^x of four lanes for x ≤ 88: 2^n · 2^r with n the integer nearest to x·log2(e) and |r| ≤ 1/2. With all
 * roundings the error is below 1.5e-7 absolute for x ≤ 0, and below 2.2e-7 + 7.5e-8·|x| relative. The result
 * is 0 below 2^-126.5, for example for −∞, and NaN for NaN.
 */
@inline export function exponential(x: v128): v128 {
  const shifter = v128.load(constants, SHIFTER);
  const y = exponent(x, v128.load(constants, LOG2_E), v128.load(constants, FLOOR));
  const shifted = f32x4.add(y, shifter);
  const power = powerOfFraction(
    fraction(y, shifted, shifter),
    v128.load(constants, C0),
    v128.load(constants, C1),
    v128.load(constants, C2),
    v128.load(constants, C3),
    v128.load(constants, C4),
    v128.load(constants, C5),
  );
  return f32x4.mul(power, powerOfInteger(shifted));
}

/**
 * Replaces a run of numbers, a multiple of 8, by e^(x − subtrahend), and returns the sum. If `limited`, x −
 * subtrahend may exceed 88: the result is ∞ from 88.4 on. It gives the bits of `exponential`, in two steps:
 * dependency chains of half the length keep the processor busier, and the constants of each step stay in
 * registers.
 */
@inline export function exponentials(first: usize, end: usize, subtrahend: f32, limited: bool): f64 {
  // Uses two sums, because one would make a chain of dependent steps.
  let sum = f32x4.splat(0);
  let others = sum;
  const subtrahends = f32x4.splat(subtrahend);
  for (let from = first; from < end; from += CHUNK_BYTES) {
    const to = min(from + CHUNK_BYTES, end);
    const log2e = v128.load(constants, LOG2_E);
    const floor = v128.load(constants, FLOOR);
    const shifter = v128.load(constants, SHIFTER);
    for (let at = from, power = powers; at < to; at += 32, power += 32) {
      let x = f32x4.sub(v128.load(at), subtrahends);
      let y = f32x4.sub(v128.load(at, 16), subtrahends);
      if (limited) {
        // The power of two of e^89 is ∞; larger ones wrap around.
        x = f32x4.pmin(x, f32x4.splat(89));
        y = f32x4.pmin(y, f32x4.splat(89));
      }
      x = exponent(x, log2e, floor);
      y = exponent(y, log2e, floor);
      const shiftedX = f32x4.add(x, shifter);
      const shiftedY = f32x4.add(y, shifter);
      v128.store(at, fraction(x, shiftedX, shifter));
      v128.store(at, fraction(y, shiftedY, shifter), 16);
      v128.store(power, powerOfInteger(shiftedX));
      v128.store(power, powerOfInteger(shiftedY), 16);
    }
    const c0 = v128.load(constants, C0);
    const c1 = v128.load(constants, C1);
    const c2 = v128.load(constants, C2);
    const c3 = v128.load(constants, C3);
    const c4 = v128.load(constants, C4);
    const c5 = v128.load(constants, C5);
    for (let at = from, power = powers; at < to; at += 32, power += 32) {
      const x = f32x4.mul(powerOfFraction(v128.load(at), c0, c1, c2, c3, c4, c5), v128.load(power));
      const y = f32x4.mul(powerOfFraction(v128.load(at, 16), c0, c1, c2, c3, c4, c5), v128.load(power, 16));
      v128.store(at, x);
      v128.store(at, y, 16);
      sum = f32x4.add(sum, x);
      others = f32x4.add(others, y);
    }
  }
  return sumOfLanes(f32x4.add(sum, others));
}

/** x·log2(e), clamped to at least −127. */
@inline function exponent(x: v128, log2e: v128, floor: v128): v128 {
  return f32x4.pmax(f32x4.mul(x, log2e), floor);
}

/** r = y − n, from a `shifted` y whose lowest bits are n + 127. */
@inline function fraction(y: v128, shifted: v128, shifter: v128): v128 {
  return f32x4.sub(y, f32x4.sub(shifted, shifter));
}

/** 2^n. */
@inline function powerOfInteger(shifted: v128): v128 {
  return i32x4.shl(shifted, 23);
}

/**
 * 2^r: a polynomial of degree 5 that is exact at 0, fitted for the smallest relative error (9.2e-8), in the
 * evaluation order with the fewest steps.
 */
@inline function powerOfFraction(
  r: v128,
  c0: v128,
  c1: v128,
  c2: v128,
  c3: v128,
  c4: v128,
  c5: v128,
): v128 {
  const high = multiplyAdd(c3, multiplyAdd(c4, c5, r), r);
  return multiplyAdd(c0, multiplyAdd(c1, multiplyAdd(c2, high, r), r), r);
}
