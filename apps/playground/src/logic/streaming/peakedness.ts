import { PhiloxStream } from '@tilewise/philox';

/** The statistics of random scores at a head size. */
export interface Peakedness {
  /** Standard deviation of q·k. */
  readonly spread: number;
  /** The largest weight, on average. */
  readonly largest: number;
}

const keys = 12;
const trials = 80;

/**
 * Draws queries and keys of `d` components from a normal distribution, and measures how far their scores
 * spread and how much weight the largest of twelve takes. With `scaled`, the scores are divided by √d.
 */
export function peakedness(d: number, scaled: boolean): Peakedness {
  const stream = new PhiloxStream(3n, { subsequence: BigInt(d) });
  const vector = (): number[] => Array.from({ length: d }, () => stream.nextNormal());
  let [squares, largest] = [0, 0];
  for (let trial = 0; trial < trials; trial++) {
    const q = vector();
    const scores = Array.from({ length: keys }, () => {
      const score = vector().reduce((sum, x, c) => sum + x * (q[c] ?? 0), 0);
      return scaled ? score / Math.sqrt(d) : score;
    });
    squares += scores.reduce((sum, x) => sum + x * x, 0);
    const m = Math.max(...scores);
    largest += 1 / scores.reduce((sum, x) => sum + Math.exp(x - m), 0);
  }
  return { spread: Math.sqrt(squares / (keys * trials)), largest: largest / trials };
}
