import type { LazyRescaling } from '../scores/lazy-rescaling.ts';

/** The rows of a tensor from `first` to `end` (exclusive). All fields except D are WGSL expressions. */
export interface TileOperand {
  readonly name: string;
  /** The index at which row s starts, as `NAME_row` returns it. */
  readonly row: (s: string) => string;
  readonly first: string;
  readonly end: string;
  /** The head size: the uniform that contains it, and its value. */
  readonly channels: 'P.Dqk' | 'P.Dv';
  readonly D: number;
}

/**
 * The products of the rows of `a` (queries) with the rows of `b` (keys): `into0`, `into1`, … are the vec4s of
 * a lane.
 */
export interface ScoreGemm {
  readonly into: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
}

/** S = Q·Kᵀ, and in backward also dP = dO·Vᵀ. */
export type ScoreGemms = readonly [ScoreGemm] | readonly [ScoreGemm, ScoreGemm];

/** A sum of weighted rows, such as O += P·V. */
export interface AccumulateGemm {
  /** The name of the accumulators. */
  readonly into: string;
  /** WGSL expression of the weights for the lane's score vec4 b. */
  readonly weight: (b: number) => string;
  /** The weighted rows: one for each of the tile's keys, or of its queries. */
  readonly operand: TileOperand;
  readonly over: 'keys' | 'queries';
  /**
   * WGSL condition: some weights may be 0 because their pairs are masked, so NaN and infinity in the rows
   * must be detected and kept out of the results.
   */
  readonly nonFiniteGuard: string;
  /** WGSL expression of the factor for the previous sum of row r, if there is one. */
  readonly rescale?: (r: number) => string;
  /** The lazy rescaling that gives the factor, if any. */
  readonly lazy?: LazyRescaling | null;
}

/** The names of the operands whose rows the products read. */
export const rowsRead = (gemms: readonly ScoreGemm[]): ReadonlySet<string> =>
  new Set(gemms.flatMap(({ a, b }) => [a.name, b.name]));
