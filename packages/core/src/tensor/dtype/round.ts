/** The nearest integer, ties to even; a 0 has the sign of x. */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 || 0 * x : floor;
}
