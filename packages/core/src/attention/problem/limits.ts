/**
 * The largest extent of a dimension, and the maximum number of query rows of a batch: GPUs count both in 32
 * bits.
 */
export const maxExtent: number = 2 ** 31 - 1;

/** The maximum number of query heads of a whole batch, B · Hq: engines allocate a few bytes for each. */
export const maxHeads: number = 2 ** 24;

/** The number of queries, and of keys, in a tile of the block mask. */
export const BLOCK_MASK_TILE = 128;
