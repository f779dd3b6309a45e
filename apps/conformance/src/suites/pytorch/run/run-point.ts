import { type Engine, type TensorDesc, UnsupportedError } from '@tilewise/core';
import type { Outcome } from '../../../cases/case.ts';
import { worstOf } from '../../attention/worst-error.ts';
import type { Tolerances } from '../case-file.ts';
import type { Point } from '../point.ts';
import { draw } from './draw.ts';
import { differences, firstAlone, fullyMaskedRows } from './exact-checks.ts';
import { goldenOf } from './golden.ts';
import { runOnEngine } from './run-on-engine.ts';
import { judge, roundsAtEveryStep } from './tolerance.ts';

/**
 * Runs a point forward, and backward if it has a backward pass, and judges every result by its group's rule.
 */
export async function runPoint<T extends TensorDesc>(
  engine: Engine<T>,
  point: Point,
  tol: Tolerances,
  seed: number,
): Promise<Outcome> {
  const drawn = draw(point, seed);
  const golden = goldenOf(point, drawn, roundsAtEveryStep(tol));
  try {
    const actual = await runOnEngine(engine, point, drawn, golden.dO);
    const errors = [...golden.comparisons(actual.first)].map(comparison =>
      judge(comparison, tol, point.dtype, point.leniency ?? 1),
    );
    errors.push(...fullyMaskedRows(golden.lse, actual.first));
    if (actual.second) errors.push(...differences(actual.first, actual.second));
    if (point.alone) errors.push(...(await firstAlone(engine, point, drawn, actual.first)));
    const worst = worstOf(errors);
    const error = Number.isFinite(worst.ratio) ? worst.ratio : null;
    const status = worst.ratio <= 1 ? 'pass' : 'fail';
    return { status, error, reason: `${worst.tensor} ${worst.text}` };
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
    return { status: 'unsupported', error: null, reason: error.reasons.join('; ') };
  }
}
