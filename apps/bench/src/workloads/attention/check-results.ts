import type { Tensor } from '@tilewise/core';
import { type AttentionCase, toleranceOf } from './attention-case.ts';
import { checkBackward, checkForward, sampleRows } from './sampled-reference.ts';

/**
 * Checks some rows of the results of a case, in any dtype, against the definition in float64.
 * @throws WrongResult naming the tensor and the row that is off by more than `toleranceOf` the case's dtype.
 */
export function checkResults(
  { q, k, v, dO, causal, dtype }: Omit<AttentionCase, 'shape' | 'flops'>,
  { o, lse, dq, dk, dv }: Readonly<Record<'o' | 'lse' | 'dq' | 'dk' | 'dv', Tensor>>,
): void {
  const f32 = (t: Tensor): Tensor => t.cast('f32');
  const call = { q: f32(q), k: f32(k), v: f32(v), causal };
  const results = { o: f32(o), lse, dO: f32(dO), dq: f32(dq), dk: f32(dk), dv: f32(dv) };
  const places = sampleRows(call, 6);
  const tolerance = toleranceOf(dtype);
  checkForward(call, results, places, tolerance.forward);
  checkBackward(call, results, places, tolerance.backward);
}
