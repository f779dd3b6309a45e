import type { RowResult } from './results.ts';

/** A result whose sums are stored times a scale. */
export interface ScaledResult extends RowResult {
  /** The largest magnitude of what was stored, before `scale`. */
  amax(): number;
}

/** Multiplies panels by `descale` and then `scale`, in place, on their way to a result. */
export function createScaledResult(
  { tensor, store }: RowResult,
  D: number,
  descale: number,
  scale: number,
): ScaledResult {
  let amax = 0;
  return {
    tensor,
    amax: () => amax,
    store(b, h, s0, count, panel, at, ld) {
      for (let r = 0; r < count; r++) {
        for (let n = at + r * ld; n < at + r * ld + D; n++) {
          panel[n] *= descale;
          amax = Math.max(amax, Math.abs(panel[n]));
          panel[n] *= scale;
        }
      }
      store(b, h, s0, count, panel, at, ld);
    },
  };
}
