/** The sizes of problems: as in the grids, or reduced to what a software adapter computes in a moment. */
export type Sizes = 'small' | 'full';

/** The longest sequence, batch and heads of a small problem. */
const shortest = 128;
const fewest = 2;

/** A sequence length: a long one becomes 128 plus its remainder modulo 32, so that tails stay tails. */
export function sequenceLength(n: number, sizes: Sizes): number {
  return sizes === 'full' || n <= shortest + 32 ? n : shortest + (n % 32);
}

/** A batch size. */
export function batch(n: number, sizes: Sizes): number {
  return sizes === 'full' ? n : Math.min(n, fewest);
}

/**
 * Heads of q and of k and v: at most two groups, with as many query heads each as before but at most four.
 */
export function heads(Hq: number, Hk: number, sizes: Sizes): readonly [Hq: number, Hk: number] {
  if (sizes === 'full') return [Hq, Hk];
  const groups = Math.min(Hk, fewest);
  return [groups * Math.min(Hq / Hk, 4), groups];
}
