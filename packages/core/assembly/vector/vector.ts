/** The columns of B that are stored side by side in a panel. */
@inline export const PANEL: i32 = 8;
@inline export const PANEL_BYTES: usize = 32;
/** The rows of A that are multiplied at once. */
@inline export const STRIP: i32 = 4;

/** c + a·b, rounded once if the host has relaxed SIMD and the processor fused multiply-add, else twice. */
@inline export function multiplyAdd(c: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

/** The sum of the four lanes, in f64. */
@inline export function sumOfLanes(x: v128): f64 {
  return (
    <f64>f32x4.extract_lane(x, 0) +
    <f64>f32x4.extract_lane(x, 1) +
    (<f64>f32x4.extract_lane(x, 2) + <f64>f32x4.extract_lane(x, 3))
  );
}

/** The largest lane that is a number. */
@inline export function largestLane(x: v128): f32 {
  const two = f32x4.pmax(x, v128.shuffle<f32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(f32x4.pmax(two, v128.shuffle<f32>(two, two, 1, 0, 3, 2)), 0);
}
