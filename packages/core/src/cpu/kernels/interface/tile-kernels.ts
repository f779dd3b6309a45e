import type { MatrixA } from './parameters.ts';

/**
 * The stages of a tile of scores (m × n) between the product and the softmax. Rows of scores are `ld` bytes
 * apart; rows of a bias, a mask or bytes are `ldBias`, `ldSeen` or `ldBytes` apart, or 0 if one row serves
 * all. Rows are read and written up to a multiple of 4.
 */
export interface ScoreKernels {
  /**
   * Softcap of `count` scores, a multiple of 4: x becomes c·tanh(x / c). Stores tanh(x / c) at `kept`, unless
   * that is 0.
   */
  capScores(count: number, scores: number, kept: number, cap: number): void;
  /** Multiplies ds by 1 − tanh², with the stored tanh; a ds of 0 stays 0. */
  uncapGradients(count: number, ds: number, kept: number): void;
  /** Adds an f32 bias. A bias of −∞ masks, even a product that is NaN. */
  addBias(m: number, n: number, scores: number, ld: number, bias: number, ldBias: number): void;
  /**
   * Subtracts slope · |distance|. `distance` is the distance of the first pair; it increases by one per row
   * and decreases by one per column.
   */
  addAlibi(m: number, n: number, scores: number, ld: number, slope: number, distance: number): void;
  /** Sets the scores of pairs whose byte in `seen` is 0 to −∞. */
  hideUnseen(m: number, n: number, scores: number, ld: number, seen: number, ldSeen: number): void;
  /** The number of pairs within the ranges whose byte is not 0. */
  countSeen(m: number, n: number, seen: number, ldSeen: number, ranges: number, j0: number): number;
  /** Makes dropout masks (see `dropWeights`) from bytes that are 0 for dropped weights. */
  widenMasks(m: number, n: number, bytes: number, ldBytes: number, masks: number, ld: number): void;
}

/** Operations on the rows of a panel. */
export interface RowKernels {
  /** Divides each of m rows (`width` f32) by its f64 divisor; rows whose divisor is 0 do not change. */
  divideRows(m: number, width: number, rows: number, ld: number, divisors: number): void;
  /** Multiplies each of m rows by a factor. */
  scaleRows(m: number, width: number, rows: number, ld: number, factor: number): void;
  /** Adds each of m rows to its row at `sums`. */
  addRows(m: number, width: number, rows: number, sums: number, ld: number): void;
  /** The dot product of each row of a with the same row of b, as f64. */
  dotRows(m: number, width: number, ...args: [...MatrixA, b: number, ldb: number, out: number]): void;
}

type Source = [source: number, ld: number];

/** Packs operands into panels, and converts numbers from and to 16-bit floats. */
export interface PackKernels {
  /**
   * Packs row-major rows into panels whose depth is the rows, `panelBytes` apart; `width` is a multiple of
   * `PANEL`. Returns whether all elements are finite.
   */
  packRows(...args: [count: number, width: number, ...Source, target: number, panelBytes: number]): boolean;
  /** Packs row-major rows into panels whose depth is the head size; `count` is a multiple of `PANEL`. */
  packColumns(...args: [count: number, depth: number, ...Source, target: number]): void;
  /** Widens `count` bit patterns (a multiple of 8) to f32. */
  decodeF16(count: number, source: number, target: number): void;
  decodeBf16(count: number, source: number, target: number): void;
  /** Rounds `count` f32 (a multiple of 8) to bit patterns, to nearest even. */
  encodeF16(count: number, source: number, target: number): void;
  encodeBf16(count: number, source: number, target: number): void;
}
