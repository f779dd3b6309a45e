import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';
import type { RowResult } from './row-result.ts';

/** A result that multiplies sums by a scale before it stores them. */
export interface ScaledResult extends RowResult {
  /** The largest magnitude of the stored values, before `scale`. */
  amax(): number;
}

/** The factors of a result's sums. */
interface Scales {
  /** From the sums to the result. */
  readonly descale: number;
  /** From the result to the numbers that are stored. */
  readonly scale: number;
  /** Whether the largest magnitude is measured. */
  readonly hasAmax: boolean;
}

/** Multiplies rows of head size D by both factors, in place, before they are stored in a result. */
export function createScaledResult(
  { memory, scaleRows }: Kernels,
  { store }: RowResult,
  D: number,
  { descale, scale, hasAmax }: Scales,
): ScaledResult {
  const width = padded(D);
  let amax = 0;
  function measure(from: number): void {
    const { f32 } = memory;
    for (let n = from; n < from + D; n++) {
      f32[n] *= descale;
      amax = Math.max(amax, Math.abs(f32[n]));
      f32[n] *= scale;
    }
  }
  return {
    amax: () => amax,
    store(b, h, s0, count, at) {
      if (hasAmax) for (let r = 0; r < count; r++) measure((at >>> 2) + r * width);
      else if (descale * scale !== 1) scaleRows(count, width, at, 4 * width, descale * scale);
      store(b, h, s0, count, at);
    },
  };
}
