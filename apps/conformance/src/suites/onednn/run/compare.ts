import { type DTypeInfo, dtypeInfo, type Tensor } from '@tilewise/core';
import { epsilons, type Gate } from './gate.ts';

/** The difference of two tensors. */
export interface Difference {
  readonly failing: number;
  readonly total: number;
  /**
   * ‖actual − expected‖² and ‖expected‖² over the finite elements. The error is infinite if a NaN or an
   * infinity is not where one is expected, which benchdnn forgives if it happens to few elements.
   */
  readonly errorSquares: number;
  readonly squares: number;
  /** The element that fails by most, and its error; −1 if none fails. */
  readonly worst: string;
  readonly worstError: number;
  /** The number of expected zeros. */
  readonly zeros: number;
}

/**
 * Compares element by element. If the expected result is in f32, before its last rounding, then every
 * rounding of a number within the absolute gate is right, and `got` is compared with the nearest of these.
 * @param largest the largest expected number; of the whole tensor if this is a part of it.
 */
export function compare(
  actual: Tensor,
  expected: Tensor,
  gate: Gate,
  largest: number = largestOf(expected),
): Difference {
  const got = actual.toFloat64();
  const exact = expected.toFloat64();
  const absolute = Math.max(gate.absolute, largest > gate.exactTo ? gate.ofLargest * largest : 0);
  const isRounded = expected.dtype === actual.dtype;
  const allowed = { ...gate, absolute: isRounded ? absolute : 0 };
  let failing = 0;
  let zeros = 0;
  let worst = '';
  let worstError = -1;
  let errorSquares = 0;
  let squares = 0;
  for (let n = 0; n < exact.length; n++) {
    const want = isRounded ? exact[n] : nearestRounding(got[n], exact[n], absolute, dtypeInfo[actual.dtype]);
    const error = Math.abs(got[n] - want);
    if (want === 0) zeros++;
    if (Number.isFinite(want) && Number.isFinite(got[n])) {
      errorSquares += error ** 2;
      squares += want ** 2;
    }
    if (passes(got[n], want, allowed)) continue;
    failing++;
    if (!Number.isFinite(error)) errorSquares = Infinity;
    if (!(error <= worstError)) {
      worstError = error;
      worst = `element ${n} is ${got[n]}, expected ${want}`;
    }
  }
  return { failing, total: exact.length, errorSquares, squares, worst, worstError, zeros };
}

/** The largest finite magnitude in a tensor. */
export function largestOf(tensor: Tensor): number {
  return tensor.toFloat64().reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
}

/** Joins the differences of parts of a tensor. */
export function joined(a: Difference, b: Difference): Difference {
  const { worst, worstError } = b.worstError > a.worstError ? b : a;
  return {
    failing: a.failing + b.failing,
    total: a.total + b.total,
    errorSquares: a.errorSquares + b.errorSquares,
    squares: a.squares + b.squares,
    zeros: a.zeros + b.zeros,
    ...{ worst, worstError },
  };
}

/** ‖actual − expected‖ / ‖expected‖. */
export function normOf({ errorSquares, squares }: Difference): number {
  return Math.sqrt(squares === 0 ? errorSquares : errorSquares / squares);
}

/**
 * Whether the agreement of a result is meaningful, which benchdnn requires of products and probabilities: if
 * almost all numbers are 0, data were lost before the operation, and a wrong result could look the same.
 */
export function isTrusted(kind: string | undefined, { zeros, total }: Difference): boolean {
  if (kind === 'MatMul') return zeros <= 0.9 * total;
  return kind !== 'SoftMax' || zeros <= Math.max(total - 8, 0.9 * total);
}

/**
 * Rounds a number whose exact value is within `around` of `exact`, or within the f32 rounding of `exact`: of
 * all possible roundings, returns the one nearest to `got`. Rounding is monotonic, so every number of an
 * interval is rounded to a number between the rounded ends.
 */
function nearestRounding(
  got: number,
  exact: number,
  around: number,
  { encode, decode }: Pick<DTypeInfo, 'encode' | 'decode'>,
): number {
  const rounded = (x: number): number => decode(encode(x));
  const middle = rounded(exact);
  if (got === middle || Number.isNaN(got) || !Number.isFinite(exact)) return middle;
  const reach = around + 2 ** -24 * Math.abs(exact);
  return Math.min(Math.max(got, rounded(exact - reach)), rounded(exact + reach));
}

function passes(
  got: number,
  want: number,
  { threshold, eltwise, offByOne, epsilon, absolute }: Gate,
): boolean {
  if (got === want || (Number.isNaN(got) && Number.isNaN(want))) return true;
  const difference = Math.abs(got - want);
  if (Number.isNaN(difference) || difference === Infinity) return false;
  const isSmall = Math.abs(want) <= 1e-5;
  if (isSmall && difference < epsilons.f32) return true;
  const relative = isSmall ? difference : difference / Math.abs(want);
  if (relative <= threshold || difference < absolute) return true;
  if (eltwise && (difference <= Math.max(epsilon, 2e-5) || relative <= Math.max(epsilon, 8e-6))) return true;
  return offByOne && difference <= Math.max(1, epsilon * Math.abs(want));
}

/** benchdnn's verdict: all elements pass, or nearly all do and the norm of the error is small. */
export function isClose(difference: Difference): boolean {
  const { failing, total } = difference;
  return failing === 0 || (failing <= total / 1024 && normOf(difference) <= 3e-3);
}
