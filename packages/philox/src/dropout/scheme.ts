import type { U64 } from '../u64.ts';

/** The dropout conventions, by the system whose masks they reproduce. */
export type DropoutSchemeName = 'torch-efficient' | 'flash-attention-2' | 'onednn';

/** Extents of the attention matrix: batch, **query** heads, queries, keys. */
export interface DropoutShape {
  /** The number of sequences. */
  readonly B: number;
  /** The number of query heads. */
  readonly H: number;
  /** The number of queries of a sequence. */
  readonly Sq: number;
  /** The number of keys of a sequence. */
  readonly Skv: number;
}

/** How a dropout probability becomes integers and a factor. */
export interface DropoutRule {
  /**
   * A whole number in [0, 2^32]: the smallest word that is kept, or, for `flash-attention-2`, the smallest
   * byte that is dropped.
   */
  readonly threshold: number;
  /** The factor of a kept probability, an f32; 0 if everything is dropped. */
  readonly scale: number;
}

/**
 * A dropout with everything fixed except the element: the input of {@link DropoutScheme.decider}, already
 * checked.
 */
export interface DropoutDraw {
  /** The extents of the scores. */
  readonly shape: DropoutShape;
  /**
   * Distance between the rows of each batch element in the random stream, in elements; empty if it is `Skv`.
   */
  readonly rowStrides: readonly number[];
  /** The seed, as two 32-bit words. */
  readonly seed: U64;
  /** The offset in the scheme's own unit, as two 32-bit words. */
  readonly offset: U64;
  /** The threshold of {@link DropoutScheme.rule}. */
  readonly threshold: number;
}

/**
 * Keep or drop, for element (b, h, i, j): batch, query head, query row, key column. Indices are not checked.
 */
export interface KeepDecider {
  /** Whether one element is kept. */
  keep(b: number, h: number, i: number, j: number): boolean;
  /**
   * Writes 1 (keep) or 0 for the columns j0 ≤ j < j1 of one row to `out[at]`, `out[at + 1]`, …; allocates
   * nothing.
   */
  keepRow(b: number, h: number, i: number, j0: number, j1: number, out: Uint8Array, at?: number): void;
}

/**
 * One dropout convention. A scheme is a pure function of (seed, offset, b, h, i, j): tile sizes, order of
 * work and launch geometry never enter, so forward, backward and every engine see the same mask.
 */
export interface DropoutScheme {
  /**
   * The threshold and the factor of a probability.
   * @param p a probability that is known to be in [0, 1].
   * @throws InvalidArgumentError if the scheme has no mask for `p`.
   */
  rule(p: number): DropoutRule;
  /**
   * How far `offset` has to move for the next call of this shape to draw fresh numbers, in the scheme's own
   * unit.
   */
  offsetIncrement(shape: DropoutShape): bigint;
  /** Decides the elements of one dropout. */
  decider(draw: DropoutDraw): KeepDecider;
}
