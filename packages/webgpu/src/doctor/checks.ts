import { type DType, type SdpaOptions, Tensor } from '@tilewise/core';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import { sdpa, sdpaBackward } from '../api/sdpa.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/gpu-tensor.ts';
import type { CheckReport } from './diagnosis.ts';

/** More than one tile of queries and keys, grouped heads, a mask that is drawn. */
const [B, Hq, Hk, S, D] = [1, 4, 2, 50, 16];
const options: SdpaOptions = { causal: true, dropout: { p: 0.25, seed: 42n } };

/**
 * The errors that the kernels' own tests allow: scores of this problem stay below 80, whose rounding to f32
 * moves a probability by 5e-6 at most, relative; a gradient has twice that error. Results in f16 may be
 * rounded to the neighbour: 2^-10 more.
 */
const allowed = { forward: 1e-5, backward: 2e-5, f16: 2 ** -10 };

/** Numbers in [−1, 1) without pattern, always the same. */
function numbers(shape: readonly number[], seed: number, dtype: DType): Tensor {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const count = shape.reduce((n, extent) => n * extent, 1);
  return Tensor.from(Float32Array.from({ length: count }, next), shape, { dtype });
}

/** One forward and one backward, in f32 and in f16, against the reference. */
export async function runChecks(ctx: GpuContext): Promise<CheckReport[]> {
  const reports: CheckReport[] = [];
  for (const dtype of ['f32', 'f16'] as const) {
    const q = numbers([B, Hq, S, D], 1, dtype);
    const k = numbers([B, Hk, S, D], 2, dtype);
    const v = numbers([B, Hk, S, D], 3, dtype);
    const dO = numbers([B, Hq, S, D], 4, dtype);
    const exact = exactSdpa(q, k, v, options);
    const inputs = { q, k, v, o: exact.o, lse: exact.lse, dO };
    const gradients = exactSdpaBackward(inputs, options);
    const store = dtype === 'f16' ? allowed.f16 : 0;
    const [gq, gk, gv] = [ctx.upload(q), ctx.upload(k), ctx.upload(v)];
    reports.push(
      await check(ctx, `forward, ${dtype}`, allowed.forward + store, exact, () =>
        sdpa(ctx, gq, gk, gv, options),
      ),
    );
    const rows = { o: ctx.upload(exact.o), lse: ctx.upload(exact.lse), dO: ctx.upload(dO) };
    reports.push(
      await check(ctx, `backward, ${dtype}`, allowed.backward + store, gradients, () =>
        sdpaBackward(ctx, { q: gq, k: gk, v: gv, ...rows }, options),
      ),
    );
  }
  return reports;
}

/** Runs a computation and compares each result with the exact one; what it throws is part of the report. */
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
    }
  } catch (cause) {
    error = Number.POSITIVE_INFINITY;
    failure = String(cause);
  }
  return { name, error, allowed: allowedError, milliseconds: performance.now() - started, failure };
}

/**
 * The largest difference, by the largest exact value or 1. Anything that is not finite is infinitely wrong.
 */
export function relativeError(got: Tensor, want: Tensor): number {
  const [actual, exact] = [got.toFloat64(), want.toFloat64()];
  let largest = 0;
  let magnitude = 1;
  for (let n = 0; n < exact.length; n++) {
    const difference = Math.abs(actual[n] - exact[n]);
    largest =
      difference <= largest ? largest : Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
    magnitude = Math.max(magnitude, Math.abs(exact[n]));
  }
  return largest / magnitude;
}
