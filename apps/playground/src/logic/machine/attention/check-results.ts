import type { Criterion } from '../check.ts';
import { cellName } from '../machine.ts';
import type { Run } from '../run.ts';
import { formatVector, type Vector } from './attention-machine.ts';

/**
 * The allowed error of f32 against f64: a score of up to 128 is rounded by up to 2⁻¹⁷ ≈ 8·10⁻⁶, which is also
 * the relative error of its exponential. The sums of at most eight terms and the numbers that they multiply
 * are of the order of one to ten.
 */
const tolerance = 1e-3;

/** The vectors that an array of DRAM holds before a run. */
export function given({ start }: Run<Vector>, array: string): Vector[] {
  return [...start.memory].filter(([cell]) => cell.startsWith(`${array}[`)).map(([, value]) => value);
}

const near = (value: Vector, wanted: Vector): boolean =>
  value.length === wanted.length &&
  // `<=` and not the negation of `>`, so that NaN does not pass.
  value.every(
    (x, c) => Math.abs(x - (wanted[c] ?? Number.NaN)) <= tolerance * (1 + Math.abs(wanted[c] ?? 0)),
  );

/** Whether some arrays hold the expected values, to f32 accuracy. */
export function results(
  run: Run<Vector>,
  formula: string,
  wanted: Readonly<Record<string, readonly Vector[]>>,
): Criterion {
  const { memory } = run.steps.at(-1)?.state ?? run.start;
  const demand = { kind: 'computes', formula } as const;
  for (const [array, rows] of Object.entries(wanted)) {
    for (const [i, row] of rows.entries()) {
      const cell = cellName(array, [i]);
      const value = memory.get(cell);
      if (value === undefined) return { demand, met: false, found: { kind: 'nothing', cell } };
      if (near(value, row)) continue;
      const found = {
        kind: 'holds',
        cell,
        value: formatVector(value),
        wanted: formatVector(row),
      } as const;
      return { demand, met: false, found };
    }
  }
  return { demand, met: true };
}
