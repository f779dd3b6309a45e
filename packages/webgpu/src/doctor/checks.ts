import type { Tensor } from '@tilewise/core';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import { sdpa, sdpaBackward } from '../api/sdpa.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import { batch, type Case, keyHeads, numbers, queryHeads } from './cases.ts';
import type { CheckReport } from './diagnosis.ts';

/**
 * The errors that the kernels' own tests allow: scores of this problem stay below 80, so rounding them to f32
 * changes a probability by a relative error of at most 5e-6; a gradient has twice that error. Results in f16
 * and bf16 may be rounded to a neighbour, which adds 2^-10 and 2^-7.
 */
const allowed = { forward: 1e-5, backward: 2e-5 };
const rounding = { f32: 0, f16: 2 ** -10, bf16: 2 ** -7 };

/**
 * Checks each case, forward and backward, against the reference. `tell` is called with each check as soon as
 * it is done, and with the total number of checks.
 */
export async function runChecks(
  ctx: GpuContext,
  cases: readonly Case[],
  tell: (check: CheckReport, of: number) => void = () => {},
): Promise<CheckReport[]> {
  const reports: CheckReport[] = [];
  for (const { name, dtype, shape, options } of cases) {
    const [Sq, Skv, D] = shape;
    const q = numbers([batch, queryHeads, Sq, D], 1, dtype);
    const k = numbers([batch, keyHeads, Skv, D], 2, dtype);
    const v = numbers([batch, keyHeads, Skv, D], 3, dtype);
    const dO = numbers([batch, queryHeads, Sq, D], 4, dtype);
    const exact = exactSdpa(q, k, v, options);
    const inputs = { q, k, v, o: exact.o, lse: exact.lse, dO };
    const gradients = exactSdpaBackward(inputs, options);
    const uploaded = Object.entries(inputs).map(([of, tensor]) => [of, ctx.upload(tensor)] as const);
    const given = Object.fromEntries(uploaded) as Record<keyof typeof inputs, GpuTensor>;
    const runs = [
      ['forward', exact, () => sdpa(ctx, given.q, given.k, given.v, options)],
      ['backward', gradients, () => sdpaBackward(ctx, given, options)],
    ] as const;
    for (const [pass, wanted, run] of runs) {
      const title = [pass, dtype, name].filter(Boolean).join(', ');
      const report = await check(ctx, title, allowed[pass] + rounding[dtype], wanted, run);
      reports.push(report);
      tell(report, 2 * cases.length);
    }
    for (const [, tensor] of uploaded) tensor.destroy();
  }
  return reports;
}

/**
 * Runs a computation and compares each result with the exact one. If the computation throws, the report
 * contains the error.
 */
async function check(
  ctx: GpuContext,
  name: string,
  allowedError: number,
  exact: object,
  run: () => object,
): Promise<CheckReport> {
  const started = performance.now();
  let error = 0;
  let failure: string | null = null;
  try {
    const results = run() as Record<string, GpuTensor>;
    for (const [result, want] of Object.entries(exact as Record<string, Tensor>)) {
      error = Math.max(error, relativeError(await ctx.download(results[result]), want));
      results[result].destroy();
    }
  } catch (cause) {
    error = Number.POSITIVE_INFINITY;
    failure = String(cause);
  }
  return { name, error, allowed: allowedError, milliseconds: performance.now() - started, failure };
}

/**
 * The largest difference, relative to the largest exact value or 1. An infinity must be the same infinity;
 * any other value that is not finite has an infinite error.
 */
export function relativeError(got: Tensor, want: Tensor): number {
  const [actual, exact] = [got.toFloat64(), want.toFloat64()];
  let largest = 0;
  let magnitude = 1;
  for (let n = 0; n < exact.length; n++) {
    if (actual[n] === exact[n] && !Number.isFinite(exact[n])) continue;
    const difference = Math.abs(actual[n] - exact[n]);
    if (!Number.isFinite(difference)) return Number.POSITIVE_INFINITY;
    largest = Math.max(largest, difference);
    magnitude = Math.max(magnitude, Math.abs(exact[n]));
  }
  return largest / magnitude;
}
