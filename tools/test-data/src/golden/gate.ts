import { keptRounding } from './kept-rounding.ts';
import type { GoldenCase } from './parse-golden.ts';

export type StorageDType = 'f32' | 'f16' | 'bf16';

/** The size of an error, or the size allowed: its largest magnitude and its root mean square. */
export interface ErrorSize {
  readonly max: number;
  readonly rms: number;
}

// Explicit significand bits: the spacing of the values in [1, 2) is 2^-bits.
const significandBits = { f32: 23, f16: 10, bf16: 7 } as const;

const fileName: Readonly<Record<string, string>> = { dAlibi: 'dslopes' };

/**
 * The error that a golden case allows an engine that stores q, k, v, o and the gradients as `storage` and
 * computes in f32. `tensor` is an output's name: `o lse dq dk dv dbias dAlibi dsink`.
 *
 * R is the error of an eager implementation in the same precision, which the case carries, and M = max(1,
 * max|x|).
 *
 * Largest error: f32 `o` and `lse` max(1e-5·M, 4R), gradients max(2e-5·M, 8R). f16 and bf16, whose R includes
 * the rounding of every intermediate, `o` 2R and gradients 3R, plus half a unit in the last place of M for
 * the store. `lse` is stored in f32 whatever the storage, and its inputs are exact, so it gets max(2e-5·M,
 * 4R) with f32's R.
 *
 * RMS: twice the eager RMS, which shows a systematic error that the largest one hides, but at least a floor,
 * because the eager RMS vanishes where its roundings happen to cancel (a single key) and because eager CPU
 * code has an `exp` that is correct to the last place where WGSL allows 3 + 2|x| units.
 *
 * The f32 floor, with u = 2^-24: an error of (3 + 2|x|)·2u, relative, in each exp(x), x = s − m, moves o by Σ
 * p·(3 + 2|x|)·2u·(v − o). The mean of |x| under p is at most the entropy of the row, ln(Skv) ≈ 5 for the
 * largest case, so the relative error is below 26u at worst; errors spread evenly within ± that bound have a
 * 1/√3 of it as RMS, and |v − o| is around M/2: 26u·(M/2)/√3 ≈ 7.5u·M ≈ 4.5e-7·M. `lse` gets 3 units of
 * WGSL's log, 6u·M ≈ 3.6e-7·M. Both round up to 5e-7·M. A gradient has one error of that size from p and one
 * from dp − delta, so it gets 1e-6·M. dbias, dslopes and dsink also get what their sums keep of the rounding
 * of o, see `keptRounding`. The f16 and bf16 floor adds the store: rounding to a spacing of ulp(M) has RMS
 * ulp(M)/√12.
 */
export function gate(golden: GoldenCase, tensor: string, storage: StorageDType): ErrorSize {
  const forward = tensor === 'o' || tensor === 'lse';
  const M = magnitude(golden, tensor);
  const stored = storage === 'f32' ? 2 ** -24 : 2 ** -(significandBits[storage] + 1);
  const kept = keptRounding(golden, tensor, stored);
  const floor = (forward ? 5e-7 : 1e-6) * M + kept;
  if (storage === 'f32' || tensor === 'lse') {
    const R = eagerError(golden, tensor, 'f32');
    const largest = tensor === 'lse' && storage !== 'f32' ? 2e-5 : forward ? 1e-5 : 2e-5;
    return { max: Math.max(largest * M, (forward ? 4 : 8) * R.max) + kept, rms: Math.max(2 * R.rms, floor) };
  }
  const R = eagerError(golden, tensor, storage);
  const ulp = 2 ** (Math.floor(Math.log2(M)) - significandBits[storage]);
  return {
    max: (forward ? 2 : 3) * R.max + ulp / 2 + kept,
    rms: Math.max(2 * R.rms, floor + ulp / Math.sqrt(12)),
  };
}

/**
 * The largest error that a golden case allows the float64 reference: the rounding of o, lse and the file to
 * f32.
 */
export function referenceGate(golden: GoldenCase, tensor: string): number {
  return 1e-6 * magnitude(golden, tensor) + keptRounding(golden, tensor, 2 ** -24);
}

/**
 * The error of `actual` against `expected`, element by element. Infinities must be equal: a finite value in
 * place of an infinity, an infinity in place of a finite value, and NaN anywhere are an infinite error.
 * Throws on unequal lengths.
 */
export function errorOf(actual: ArrayLike<number>, expected: ArrayLike<number>): ErrorSize {
  if (actual.length !== expected.length) {
    throw new Error(`${actual.length} values were given where ${expected.length} are expected.`);
  }
  let max = 0;
  let squares = 0;
  for (let i = 0; i < expected.length; i++) {
    const got = Number(actual[i]);
    const want = Number(expected[i]);
    if (got === want) continue;
    const error = Math.abs(got - want);
    if (Number.isNaN(error)) return { max: Infinity, rms: Infinity };
    max = Math.max(max, error);
    squares += error * error;
  }
  return { max, rms: Math.sqrt(squares / Math.max(1, expected.length)) };
}

function magnitude(golden: GoldenCase, tensor: string): number {
  return Math.max(1, golden.maxAbs[fileName[tensor] ?? tensor] ?? 0);
}

function eagerError(golden: GoldenCase, tensor: string, storage: StorageDType): ErrorSize {
  const found = golden.refErr[storage][fileName[tensor] ?? tensor];
  if (!found) throw new Error(`The golden case ${golden.name} has no output ${tensor}.`);
  return { max: found[0], rms: found[1] };
}
