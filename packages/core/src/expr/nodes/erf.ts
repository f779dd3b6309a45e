/**
 * The error function, to about 1e-15: the Maclaurin series for small |x|, and for larger |x| the
 * continued fraction of erfc (Abramowitz and Stegun 7.1.5 and 7.1.14). For |x| ≥ 6, the result is ±1 in f64.
 */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (a > 6) return Math.sign(x);
  return a < 2.5 ? series(x) : Math.sign(x) * (1 - complement(a));
}

function series(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

function complement(a: number): number {
  let fraction = a;
  for (let n = 60; n > 0; n--) fraction = a + n / 2 / fraction;
  return Math.exp(-a * a) / (Math.sqrt(Math.PI) * fraction);
}
