import type { Concrete } from '../concrete/concrete.ts';
import type { Tolerance } from '../format/case-format.ts';

/** The rounding of a call: its storage dtype, or the contract for 8-bit floats. */
type Column = 'f32' | 'f16' | 'bf16' | 'fp8' | 'mxfp8';

/** The names of results in a case's own `tol`, as in cuDNN's tests. */
const fileNames: Readonly<Record<string, string>> = {
  o: 'o',
  lse: 'stats',
  max: 'stats',
  sumExp: 'stats',
  dq: 'dQ',
  dk: 'dK',
  dv: 'dV',
  dbias: 'dBias',
  dsink: 'dSink',
};

const half: Tolerance = [2e-2, 2e-2];

/**
 * The tolerances of cuDNN's tests, [absolute, relative], by result and rounding. Results that these tests do
 * not compare for fp8 (statistics, dbias, largest values) get the tolerance of mxfp8.
 */
const table: Readonly<Record<string, Readonly<Record<Exclude<Column, 'f32'>, Tolerance>>>> = {
  o: { f16: half, bf16: half, fp8: [0.08, 0.2], mxfp8: [0.12, 0.2] },
  lse: { f16: half, bf16: half, fp8: [0.05, 0.05], mxfp8: [0.05, 0.05] },
  max: { f16: half, bf16: half, fp8: [0.05, 0.05], mxfp8: [0.05, 0.05] },
  sumExp: { f16: half, bf16: half, fp8: [0.05, 0.05], mxfp8: [0.05, 0.05] },
  dq: { f16: half, bf16: half, fp8: [0.04, 0.2], mxfp8: [0.08, 0.2] },
  dk: { f16: half, bf16: [7e-2, 2e-2], fp8: [0.04, 0.2], mxfp8: [0.08, 0.2] },
  dv: { f16: half, bf16: [7e-2, 2e-2], fp8: [0.04, 0.2], mxfp8: [0.08, 0.2] },
  dbias: { f16: half, bf16: half, fp8: [0.04, 0.2], mxfp8: [0.08, 0.2] },
  dsink: { f16: [4e-2, 2e-2], bf16: [4e-2, 2e-2], fp8: [0.02, 0.2], mxfp8: [0.08, 0.2] },
};

/** The largest values that forward and backward measure of their results. */
const measured: Readonly<Record<string, Tolerance>> = {
  amaxS: [0.05, 0.05],
  amaxO: [0.05, 0.05],
  amaxDQ: [0.04, 0.04],
  amaxDK: [0.04, 0.04],
  amaxDV: [0.04, 0.04],
  amaxDP: [0.04, 0.04],
};

/** A dropout mask must match exactly. */
const exactly: Tolerance = [0, 0];

/** The allowed error of a call's result. A case's own tolerance takes precedence. */
export function toleranceOf({ dtype, outDType, precision, tol }: Concrete, result: string): Tolerance {
  if (result === 'dropoutMask') return exactly;
  if (result in measured) return measured[result];
  const name = fileNames[result] ?? result;
  const own = (dtype === 'bf16' ? tol[`${name}_bf16`] : undefined) ?? tol[name];
  if (own) return own;
  const column = precision === 'float' ? dtype : precision;
  const row = table[result];
  if (!row) throw new Error(`there is no tolerance for ${result}`);
  if (column === 'f32') return [1e-4, 1e-4];
  if (column in row) return row[column as Exclude<Column, 'f32'>];
  throw new Error(`there is no tolerance for ${result} in ${column} with results in ${outDType}`);
}
