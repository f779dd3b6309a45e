/** The statistics of a mask. */
export interface MaskStatistics {
  readonly kept: number;
  readonly total: number;
  /** How far the kept share is from 1 − p, in standard deviations for that many independent draws. */
  readonly deviation: number;
  /** The correlation of neighbours in a row, about 0 for independent draws. */
  readonly across: number;
  /** The correlation of neighbours in a column. */
  readonly down: number;
}

/** Statistics of a mask (rows × columns, 1 = kept) drawn with probability `p` to drop. */
export function maskStatistics(mask: Uint8Array, columns: number, p: number): MaskStatistics {
  const total = mask.length;
  const kept = mask.reduce((sum, bit) => sum + bit, 0);
  const mean = kept / total;
  const variance = mean * (1 - mean);
  const correlation = (step: number, ends: (at: number) => boolean): number => {
    let products = 0;
    let pairs = 0;
    for (let at = 0; at + step < total; at++) {
      if (ends(at)) continue;
      products += ((mask[at] ?? 0) - mean) * ((mask[at + step] ?? 0) - mean);
      pairs++;
    }
    return variance === 0 || pairs === 0 ? 0 : products / pairs / variance;
  };
  return {
    kept,
    total,
    deviation: p === 0 ? 0 : (kept - total * (1 - p)) / Math.sqrt(total * p * (1 - p)),
    across: correlation(1, at => (at + 1) % columns === 0),
    down: correlation(columns, () => false),
  };
}
