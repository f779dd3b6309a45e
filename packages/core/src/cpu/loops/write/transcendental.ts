import type { FunctionWriter, Local } from '../wasm/function-writer.ts';

/** Coefficients of a polynomial from the highest power to the lowest. */
type Polynomial = readonly number[];

/** x · P(x²) / Q(x²), with x clamped to ±limit. */
interface OddRational {
  /** A number at which the quotient is exactly 1 in f32, so that the function is 1 from there on. */
  readonly limit: number;
  readonly numerator: Polynomial;
  readonly denominator: Polynomial;
}

/** A number that is added to this one is rounded to an integer n; the lowest bits of the sum are n + 126. */
const SHIFTER = 1.5 * 2 ** 23 + 126;

/** 2 · 2^r for |r| ≤ 1/2, exact at 0, fitted for the smallest relative error (9.2e-8). */
const twicePower: Polynomial = [
  0.001326472724711154, 0.009671512688150646, 0.05550733743574232, 0.24022242084635143, 0.6931469775987164, 1,
].map(coefficient => 2 * coefficient);

/*
 * Both functions are fitted for the smallest relative error up to about the limit. In f32, the relative error
 * of tanh is below 3.5e-7 and that of erf below 4.1e-7, and neither exceeds 1: this was computed for every
 * f32.
 */
const tanh: OddRational = {
  limit: 7.925520896911621,
  numerator: [1.5230380512321062e-8, 2.189463521062862e-5, 0.003571596462279558, 0.1344449669122696, 1],
  denominator: [8.522431471646996e-7, 0.00034112893627025187, 0.02616443671286106, 0.4677782356739044, 1],
};

const erf: OddRational = {
  limit: 3.60650897026062,
  numerator: [
    2.3260333819052903e-6, 0.00029158545657992363, 0.00343261007219553, 0.05181736499071121,
    0.18086260557174683, 1.1283791065216064,
  ],
  denominator: [
    4.125422492506914e-5, 0.0011068653548136353, 0.014308751560747623, 0.11046227812767029,
    0.4936184883117676, 1,
  ],
};

/**
 * Leaves e^x on the stack: 2^n · 2^r with n the integer nearest to x·log2(e) and |r| ≤ 1/2. With all
 * roundings the relative error is below 2.2e-7 + 7.5e-8·|x|. The result is 0 below 2^-125.5, and NaN for NaN.
 */
export function writeExp(w: FunctionWriter, x: Local): void {
  const [y, shifted] = [w.local('v128'), w.local('v128')];
  w.get(x).floats(Math.LOG2E).vector('f32x4Mul');
  clamp(w, -126, 128.4);
  w.set(y).get(y).floats(SHIFTER).vector('f32x4Add').set(shifted);
  w.get(y, shifted).floats(SHIFTER).vector('f32x4Sub').vector('f32x4Sub').set(y);
  writePolynomial(w, twicePower, y);
  // As an exponent, n + 126 makes 2^(n − 1), which overflows only where the result does.
  w.get(shifted).i32(23).vector('i32x4Shl').vector('f32x4Mul');
}

/** Leaves tanh x on the stack. */
export function writeTanh(w: FunctionWriter, x: Local): void {
  writeOddRational(w, tanh, x);
}

/** Leaves erf x on the stack. */
export function writeErf(w: FunctionWriter, x: Local): void {
  writeOddRational(w, erf, x);
}

function writeOddRational(w: FunctionWriter, f: OddRational, x: Local): void {
  const [y, square] = [w.local('v128'), w.local('v128')];
  w.get(x);
  clamp(w, -f.limit, f.limit);
  w.set(y).get(y, y).vector('f32x4Mul').set(square).get(y);
  writePolynomial(w, f.numerator, square);
  w.vector('f32x4Mul');
  writePolynomial(w, f.denominator, square);
  w.vector('f32x4Div');
}

/** Leaves the value of a polynomial at x on the stack. */
function writePolynomial(w: FunctionWriter, [highest, ...others]: Polynomial, x: Local): void {
  w.floats(highest);
  for (const coefficient of others) w.get(x).vector('f32x4Mul').floats(coefficient).vector('f32x4Add');
}

/** Clamps the numbers on the stack, but leaves NaN. */
function clamp(w: FunctionWriter, low: number, high: number): void {
  w.floats(high).vector('f32x4Pmin').floats(low).vector('f32x4Pmax');
}
