const STEPS = 64;
const STEPS_PER_E = STEPS / Math.LN2;
const STEP = Math.LN2 / STEPS;
/** Below e^SMALLEST an f32 is 0, because its smallest subnormal is 2^-149. */
const SMALLEST = -104;
const LARGEST = 88;
const MIN_POWER = Math.floor(SMALLEST / Math.LN2) - 1;

const fractions = /* @__PURE__ */ Float64Array.from({ length: STEPS }, (_, n) => 2 ** (n / STEPS));
const powers = /* @__PURE__ */ Float64Array.from({ length: 130 - MIN_POWER }, (_, n) => 2 ** (n + MIN_POWER));

/**
 * e^x for a result that is stored as f32: twice as fast as `Math.exp`, with a relative error below 3e-9, a
 * twentieth of f32's half unit in the last place; exactly 0 where f32 would underflow.
 *
 * x is split into n/64 · ln 2 and a remainder r with |r| < 0.0163; 2^(n/64) comes from two tables, and the
 * first omitted term of e^r is r⁴/24.
 */
export function exp(x: number): number {
  if (x < SMALLEST) return 0;
  if (x > LARGEST) return Math.exp(x);
  const n = (x * STEPS_PER_E - 0.5) | 0;
  const r = x - n * STEP;
  return powers[(n >> 6) - MIN_POWER] * fractions[n & 63] * (1 + r * (1 + r * (0.5 + r * (1 / 6))));
}
