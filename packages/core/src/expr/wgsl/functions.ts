/**
 * The functions that `writeWgsl` calls, for module scope:
 * - quotient and remainder that round towards −∞ (WGSL's round towards 0);
 * - a logarithm that is NaN for negative numbers and −∞ for 0, and a power of a negative base, NaN unless the
 *   exponent is an integer (WGSL leaves all of these undefined);
 * - tanh within a few units in the last place (WGSL's may be sinh/cosh, which overflows for large arguments
 *   and loses accuracy near 0, where this series is within 1e-8 relative);
 * - sine and cosine by Taylor series around the nearest multiple of π/2, which is subtracted in three parts,
 *   so that little accuracy is lost up to about a thousand turns (WGSL's are accurate to 2^-11, and only on
 *   [−π, π]);
 * - the error function, to 1.5e-7 (Abramowitz and Stegun 7.1.26).
 */
export const exprFunctionsWgsl = `fn expr_floor_div(a: i32, b: i32) -> i32 {
  let r = a % b;
  return a / b - select(0i, 1i, r != 0i && ((r < 0i) != (b < 0i)));
}
fn expr_mod(a: i32, b: i32) -> i32 {
  let r = a % b;
  return r + select(0i, b, r != 0i && ((r < 0i) != (b < 0i)));
}
fn expr_log(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let limit = select(bitcast<f32>(bits | 0x7fc00000u), bitcast<f32>(bits | 0xff800000u), x == 0f);
  return select(log(x), limit, x <= 0f);
}
fn expr_pow(x: f32, y: f32) -> f32 {
  if (y == 0f) { return 1f; }
  let magnitude = pow(abs(x), y);
  if (x >= 0f) { return magnitude; }
  let nan = bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u);
  return select(nan, select(magnitude, -magnitude, abs(y) % 2f == 1f), y == trunc(y));
}
fn expr_tanh(x: f32) -> f32 {
  let a = min(abs(x), 15f);
  let y = a * a;
  let near = a * (1f + y * (-1f / 3f + y * (2f / 15f + y * (-17f / 315f + y * (62f / 2835f)))));
  return sign(x) * select(1f - 2f / (exp(2f * a) + 1f), near, a < 0.25f);
}
fn expr_sin_of_quadrant(x: f32, quadrants: i32) -> f32 {
  let n = round(x * 0.63661977f);
  let r = ((x - n * 1.5703125f) - n * 4.837513e-4f) - n * 7.54979e-8f;
  let y = r * r;
  let s = r * (1f - y * (1f / 6f - y * (1f / 120f - y * (1f / 5040f - y * (1f / 362880f)))));
  let c = 1f - y * (0.5f - y * (1f / 24f - y * (1f / 720f - y * (1f / 40320f - y * (1f / 3628800f)))));
  let quadrant = (i32(n) + quadrants) & 3i;
  let value = select(s, c, (quadrant & 1i) == 1i);
  return select(value, -value, quadrant >= 2i);
}
fn expr_sin(x: f32) -> f32 {
  return expr_sin_of_quadrant(x, 0i);
}
fn expr_cos(x: f32) -> f32 {
  return expr_sin_of_quadrant(x, 1i);
}
fn expr_erf(x: f32) -> f32 {
  let a = abs(x);
  let t = 1f / (1f + 0.3275911f * a);
  let p = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
  let y = 1f - p * exp(-a * a);
  return select(y, -y, x < 0f);
}
`;
