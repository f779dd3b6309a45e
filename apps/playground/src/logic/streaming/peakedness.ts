import { PhiloxStream } from '@tilewise/philox';

/** The statistics of random scores at a head size. */
export interface Peakedness {
  /** Standard deviation of the scores. */
  readonly spread: number;
  /** The largest weight, on average. */
  readonly largest: number;
}

const keys = 12;
const trials = 80;

/**
 * Draws queries and keys of `d` components from a normal distribution, and measures how far their scores
 * spread and how much weight the largest of twelve takes: of the scores q·k, and of the scores q·k / √d.
 */
export function peakedness(d: number): { readonly unscaled: Peakedness; readonly scaled: Peakedness } {
  const stream = new PhiloxStream(3n, { subsequence: BigInt(d) });
  const vector = (): number[] => Array.from({ length: d }, () => stream.nextNormal());
  // Most of the time goes into drawing, so both results use the same scores.
  const rows = Array.from({ length: trials }, () => {
    const q = vector();
    return Array.from({ length: keys }, () => vector().reduce((sum, x, c) => sum + x * (q[c] ?? 0), 0));
  });
  return { unscaled: statistics(rows, 1), scaled: statistics(rows, 1 / Math.sqrt(d)) };
}

/** The statistics of rows of scores, each multiplied by `scale`. */
function statistics(rows: readonly (readonly number[])[], scale: number): Peakedness {
  let [squares, largest] = [0, 0];
  for (const row of rows) {
    const scores = row.map(score => scale * score);
    squares += scores.reduce((sum, x) => sum + x * x, 0);
    const m = Math.max(...scores);
    largest += 1 / scores.reduce((sum, x) => sum + Math.exp(x - m), 0);
  }
  return { spread: Math.sqrt(squares / (keys * trials)), largest: largest / trials };
}
