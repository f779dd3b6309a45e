import type { Memory } from './memory.ts';

/** Columns that lie side by side in a panel of B; head sizes and tiles are padded to it. */
export const PANEL: number = 8;
/** Bytes of one row of such a panel. */
export const PANEL_BYTES: number = 4 * PANEL;
/** Rows that are multiplied at once; tiles of rows have room for a multiple of it. */
export const STRIP: number = 4;

/** The next multiple of `PANEL`. */
export function padded(n: number): number {
  return Math.ceil(n / PANEL) * PANEL;
}

/** What kernels can be made of, from the fastest on. */
export const variants = ['wasm-relaxed-simd', 'wasm-simd', 'typescript'] as const;
/** One of the variants of the kernels: with relaxed SIMD, with SIMD, or in TypeScript. */
export type Variant = (typeof variants)[number];

/** For people. */
export const variantDescriptions: Readonly<Record<Variant, string>> = {
  'wasm-relaxed-simd': 'WebAssembly with relaxed SIMD',
  'wasm-simd': 'WebAssembly with SIMD',
  typescript: 'TypeScript',
};

/**
 * The arithmetic that takes the time, on tiles, without knowing about attention problems. All places are
 * addresses in bytes in the kernels' own memory, and distances between rows (`ld…`) are bytes too. Panels of
 * B hold `PANEL` columns side by side for every row of the depth, so that they are read in line. `ranges`,
 * where it is not 0, has two i32 for each row of a tile: the keys lo ≤ j < hi that it may see, of which
 * column c is key j0 + c; what lies outside has weight 0.
 */
export interface Kernels extends ScoreKernels, RowKernels, PackKernels {
  readonly variant: Variant;
  readonly memory: Memory;
  /** Dropout masks drawn by the kernels themselves; without it they are drawn by `@tilewise/philox`. */
  readonly draws?: DropoutKernels;
  /** Softcap of tiles; without it the score chain sees to softcap. */
  readonly softcap?: SoftcapKernels;
  /** Of kernels that are WebAssembly. */
  readonly wasm?: WasmHost;
  /** Products of whole matrices; without them matrices are multiplied on the host. */
  readonly matrices?: MatrixKernels;
  /** What element-wise loops are linked with; without it they run in TypeScript. */
  readonly loops?: LoopHost;

  /**
   * C = factor · A·B, for A (m × depth) row-major, B the panels of n columns, C row-major. Columns that no
   * range of four rows holds may be left as they are; rows are written up to a multiple of `STRIP`.
   */
  multiplyScores(
    m: number,
    n: number,
    depth: number,
    a: number,
    lda: number,
    b: number,
    c: number,
    ldc: number,
    factor: number,
    ranges: number,
    j0: number,
  ): void;
  /**
   * C += A·B for weights A (m × depth) row-major; the panels of B, each for 8 of the n columns of C, are
   * `panelBytes` apart. With `guarded` a weight of 0 adds nothing, whatever its row of B holds: that is what
   * keeps NaN and infinities behind a mask from leaking. Rounding is the same either way. A·B is rounded
   * before it is added, so that it may also be added to zeros first.
   */
  addProduct(
    m: number,
    n: number,
    depth: number,
    a: number,
    lda: number,
    b: number,
    panelBytes: number,
    c: number,
    ldc: number,
    ranges: number,
    j0: number,
    guarded: boolean,
  ): void;
  /**
   * C += Aᵀ·B for weights A (depth × m) row-major; all else as in `addProduct`, the ranges those of the rows
   * of A.
   */
  addTransposedProduct: Kernels['addProduct'];

  /**
   * Takes a tile of scores (m × n) into a running softmax and replaces each by e^(s − m). For each row,
   * `largest` (f32) has the largest score so far, −∞ at first, and `sum` (f64) l = Σ e^(s − m). Where m
   * grows, the row of `o` (`width` f32), which weighs earlier tiles by the old m, is brought to the new one.
   * Weights are written up to `ld`, 0 outside the ranges.
   */
  updateSoftmax(
    m: number,
    n: number,
    scores: number,
    ld: number,
    largest: number,
    sum: number,
    o: number,
    ldo: number,
    width: number,
    ranges: number,
    j0: number,
  ): void;
  /**
   * Replaces a tile of scores by p = e^(s − lse), `lse` f32 per row; 0 where it is −∞, outside the ranges and
   * at −∞.
   */
  toProbabilities(
    m: number,
    n: number,
    scores: number,
    ld: number,
    lse: number,
    ranges: number,
    j0: number,
  ): void;
  /**
   * Replaces a tile of dp by ds = p·(dp − delta), `delta` f32 per row; 0 where p is, whatever dp holds there.
   */
  toScoreGradients(m: number, n: number, dp: number, p: number, ld: number, delta: number): void;
  /**
   * Multiplies the weights that are kept (mask of all ones) by a factor, from `source` to `target`; the
   * others become 0.
   */
  dropWeights(
    m: number,
    n: number,
    source: number,
    target: number,
    ld: number,
    masks: number,
    ldMasks: number,
    factor: number,
  ): void;
}

/**
 * Kernels that hold more bytes than this are not kept for the next pass: WebAssembly cannot give memory back.
 */
export const MEMORY_KEPT: number = 128 * 2 ** 20;

/**
 * What happens to a tile of scores (m × n) between the product and the softmax. Rows of scores are `ld` bytes
 * apart, those of what is added or looked at `ldBias`, `ldSeen` or `ldBytes`, 0 where one serves all; all are
 * read and written up to a multiple of 4.
 */
export interface ScoreKernels {
  /** Adds an f32 bias. One of −∞ is a mask, also of a product that is NaN. */
  addBias(m: number, n: number, scores: number, ld: number, bias: number, ldBias: number): void;
  /**
   * Subtracts slope · |distance|: `distance` is that of the first pair, one more in the next row, one less in
   * the next column.
   */
  addAlibi(m: number, n: number, scores: number, ld: number, slope: number, distance: number): void;
  /** Sets the scores of pairs whose byte in `seen` is 0 to −∞. */
  hideUnseen(m: number, n: number, scores: number, ld: number, seen: number, ldSeen: number): void;
  /** How many pairs within the ranges have a byte that is not 0. */
  countSeen(m: number, n: number, seen: number, ldSeen: number, ranges: number, j0: number): number;
  /** Dropout masks (see `dropWeights`) of bytes that are 0 where a weight is dropped. */
  widenMasks(m: number, n: number, bytes: number, ldBytes: number, masks: number, ld: number): void;
}

/** What is done to rows of a panel. */
export interface RowKernels {
  /** Divides each of m rows (`width` f32) by its f64 divisor; rows with 0 stay. */
  divideRows(m: number, width: number, rows: number, ld: number, divisors: number): void;
  /** Multiplies each of m rows by a factor. */
  scaleRows(m: number, width: number, rows: number, ld: number, factor: number): void;
  /** Adds each of m rows to its row at `sums`. */
  addRows(m: number, width: number, rows: number, sums: number, ld: number): void;
  /** The scalar product of each row of a with that of b, as f64. */
  dotRows(m: number, width: number, a: number, b: number, ld: number, out: number): void;
}

/** How operands come into panels, and results out of them. */
export interface PackKernels {
  /**
   * Row-major rows as panels whose depth is the rows, `panelBytes` apart; `width` is a multiple of `PANEL`.
   * Gives whether all of them are finite.
   */
  packRows(
    count: number,
    width: number,
    source: number,
    ld: number,
    target: number,
    panelBytes: number,
  ): boolean;
  /** Row-major rows as panels whose depth is the head size; `count` is a multiple of `PANEL`. */
  packColumns(count: number, depth: number, source: number, ld: number, target: number): void;
  /** Widens `count` bit patterns (a multiple of 8) to f32. */
  decodeF16(count: number, source: number, target: number): void;
  decodeBf16(count: number, source: number, target: number): void;
  /** Rounds `count` f32 (a multiple of 8) to bit patterns, to nearest even. */
  encodeF16(count: number, source: number, target: number): void;
  encodeBf16(count: number, source: number, target: number): void;
}

/**
 * Functions of four lanes, which modules that are made at run time import; the host cannot call them. See
 * `assembly/lanes.ts`.
 */
export type LaneFunctions = Readonly<Record<LaneFunction, WebAssembly.ExportValue>>;

export type LaneFunction =
  | 'expLanes'
  | 'tanhLanes'
  | 'erfLanes'
  | 'logLanes'
  | 'halfLanes'
  | 'toHalfLanes'
  | 'toBf16Lanes'
  | 'floorDivLanes'
  | 'modLanes';

/** What other modules that work on the memory of kernels are linked with. */
export interface WasmHost {
  readonly memory: WebAssembly.Memory;
  /** Whether the memory is shared: a module says so where it imports it. */
  readonly shared: boolean;
}

/** What a loop that is compiled at run time is linked with. */
export interface LoopHost extends WasmHost {
  readonly lanes: LaneFunctions;
}

/** Products of whole matrices. */
export interface MatrixKernels extends LineProductKernels {
  /**
   * C = A·B for A (m × k), of which element (i, d) is at `a + i·aRow + d·aStep` bytes and one of `aRow` and
   * `aStep` is 4, the panels of B, and C row-major, whose n columns are a multiple of `PANEL`. Rows of A are
   * read, and those of C written, up to a multiple of `STRIP`.
   */
  multiplyPanels(
    m: number,
    n: number,
    k: number,
    a: number,
    aRow: number,
    aStep: number,
    b: number,
    c: number,
    ldc: number,
  ): void;
}

/**
 * Products of few rows A (m × depth), f32, with a large matrix that is read once, in line and as it is
 * stored: its dtype is 0 for f32, 1 for f16, 2 for bf16. Distances between rows are bytes.
 */
export interface LineProductKernels {
  /** C = A·Bᵀ for n lines of B, each `depth` numbers. */
  multiplyLines(
    dtype: number,
    m: number,
    n: number,
    depth: number,
    a: number,
    lda: number,
    b: number,
    ldb: number,
    c: number,
    ldc: number,
  ): void;
  /** C += A·B for `depth` lines of B, each n numbers. */
  addLineProducts: LineProductKernels['multiplyLines'];
}

/** Softcap of `count` scores, a multiple of 4. */
export interface SoftcapKernels {
  /** x becomes c·tanh(x / c); tanh(x / c) is kept at `kept`, unless that is 0. */
  capScores(count: number, scores: number, kept: number, cap: number): void;
  /** Multiplies ds by 1 − tanh², as kept; where ds is 0 it stays. */
  uncapGradients(count: number, ds: number, kept: number): void;
}

/** Elements that a row of masks may be written before its first and behind its last column. */
export const MASK_MARGIN: number = 32;

/** The schemes of `@tilewise/philox` tile by tile: masks of 32 bits, all ones where a weight is kept. */
export interface DropoutKernels {
  /**
   * A word per weight, kept where it is at least `threshold` (below 2^32): row i starts at word `position` +
   * i·`rowStride`, a block has four words, and its counter is (number, other), or (other, first word) with
   * `counted`.
   */
  keepWords(
    m: number,
    n: number,
    masks: number,
    ld: number,
    positionLow: number,
    positionHigh: number,
    rowStride: number,
    otherLow: number,
    otherHigh: number,
    counted: boolean,
    key0: number,
    key1: number,
    threshold: number,
  ): void;
  /**
   * A byte per weight, kept where it is below `threshold`, in FlashAttention-2's order; `counter` is that of
   * the head.
   */
  keepBytes(
    m: number,
    n: number,
    masks: number,
    ld: number,
    counterLow: number,
    counterHigh: number,
    i0: number,
    j0: number,
    key0: number,
    key1: number,
    threshold: number,
  ): void;
}
