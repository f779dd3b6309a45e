/*
 * Parameters that kernels have in common. A matrix is given by an address and by the bytes from one row to
 * the next.
 */

/** The rows and columns of a tile, and the depth that a product sums over. */
export type Extents = [m: number, n: number];
export type ProductExtents = [m: number, n: number, depth: number];

export type MatrixA = [a: number, lda: number];
export type PanelsOfB = [b: number, panelBytes: number];
export type MatrixC = [c: number, ldc: number];
export type Scores = [...Extents, scores: number, ld: number];
/** Masks of 32 bits, all ones for a kept weight. */
export type Masks = [masks: number, ldMasks: number];

/** The keys that each row of a tile may see, and the key of the first column. */
export type Ranges = [ranges: number, j0: number];
