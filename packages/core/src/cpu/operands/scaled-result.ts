import type { Kernels } from '../kernels/interface/kernels.ts';
import { padded } from '../kernels/interface/panel.ts';
import type { RowResult } from './row-result.ts';

/** A result that multiplies sums by a scale before it stores them. */
export interface ScaledResult extends RowResult {
  /** The largest magnitude of the stored values, before `scale`. */
  amax(): number;
}

/**
 * Multiplies rows of head size D by `descale` and then `scale`, in place, before they are stored in a result.
 */
export function createScaledResult(
  { memory, scaleRows }: Kernels,
  { store }: RowResult,
  D: number,
  descale: number,
  scale: number,
  hasAmax: boolean,
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
