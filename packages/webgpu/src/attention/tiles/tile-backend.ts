import { hasNonFinite } from '../../codegen/formats/float-bits.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { repeat } from '../../codegen/text.ts';
import type { LazyRescaling } from './scores/lazy-rescaling.ts';
import type { ScoreVectors } from './scores/score-vectors.ts';

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

/** A number computed from each row of scores, such as its maximum. */
export interface RowReduction {
  readonly name: string;
  /** WGSL expression of the lane's own contribution to its row r. */
  readonly own: (r: number) => string;
  /**
   * WGSL expression that combines two numbers of a row, or vec4fs of such numbers. The operation must be
   * commutative, and associative up to rounding.
   */
  readonly join: (a: string, b: string) => string;
  /** The neutral element of `join`. */
  readonly identity: string;
  /** Whether all lanes have passed a barrier since the last reduction. */
  readonly afterBarrier: boolean;
}

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

/**
 * How the lanes of a workgroup compute a tile, as the text of a kernel. In this text, `lane` is the number of
 * a lane, and `tx` and `ty` are its coordinates. A lane has `resultRows` rows of a result, and `vectors(D)`
 * vec4s of each row.
 */
export interface TileBackend extends TileResults {
  /** The declarations of kernels that compute these products and add rows of these operands. */
  parts(gemms: readonly ScoreGemm[], summed: readonly TileOperand[]): readonly ShaderPart[];
  /** Statements that declare `tx` and `ty`. */
  readonly place: string;
  /** How kernels compute values of a lane's scores. */
  readonly scoreVectors: ScoreVectors;
  /** Statements that load the stationary rows, and prepare sums over these rows. */
  loadStationary(gemms: readonly ScoreGemm[], summed: readonly TileOperand[]): string;
  /**
   * Statements that declare one or two matrices of products, over the whole head size. They may already load
   * rows that `sums` will add with the same tile, because the conditions of the non-finite guards are known
   * here. `visible`: the condition under which tiles are not skipped; empty if none is skipped.
   */
  scores(gemms: ScoreGemms, sums: readonly AccumulateGemm[], visible: string): string;
  /**
   * Statements for the end that set the maximum `mR` of a row whose scores contain NaN or +Infinity to the
   * mark of such rows; its sum is `sumR`. Without them, `score4` marks each score.
   */
  readonly markRows?: string;
  /**
   * Statements that declare the reductions of the lane's rows as `NAME0`, …, with the same bits in all lanes
   * of a row.
   */
  reduceRows(reduction: RowReduction): string;
  /**
   * Statements that add to one or two sums. They follow those for the products of the same tile, in the same
   * block. Rows and channels beyond the end count as 0, and are never read.
   */
  accumulate(gemms: readonly ScoreGemm[], sums: readonly AccumulateGemm[]): string;
}

/** The names of the operands whose rows the products read. */
export const rowsRead = (gemms: readonly ScoreGemm[]): ReadonlySet<string> =>
  new Set(gemms.flatMap(({ a, b }) => [a.name, b.name]));

/** The results that a tile accumulates. */
export interface TileResults extends LaneResults {
  /**
   * Statements that go through the tiles of the streamed side. `plain` is a plain loop, `for (var VARIABLE =
   * FIRST; VARIABLE < END; VARIABLE += STEP) {…}`, with the statements of `scores` and, at the end, of
   * `accumulate` for these products and sums. `visible`: as for `scores`.
   */
  loop(plain: string, gemms: readonly ScoreGemm[], sums: readonly AccumulateGemm[], visible: string): string;
  /**
   * Statements that compute scores. `text` writes them for a WGSL condition that holds in full tiles only:
   * once for `full_tile`, or for `true` and `false` in the two branches of a test, so that compilers remove
   * the masks from the branch of full tiles.
   */
  specialised(text: (fullTile: string) => string): string;
  /** Statements that declare the accumulators of a result. */
  accumulators(name: string, D: number): string;
  /** For results that are slow to rescale. */
  readonly lazyRescaling: LazyRescaling | null;
  /**
   * Whether the compiler must leave loops over results as they are, because unrolled text takes long to
   * compile. Lanes then have whole rows.
   */
  readonly keepsLoops: boolean;
  /**
   * Statements that declare the array `NAME_rows` of a lane's vec4s of a result, unless it exists already.
   */
  results(name: string, D: number): string;
}

/** The rows of a result that a lane has, and its vec4s of these rows. */
export interface LaneResults {
  readonly resultRows: number;
  /** WGSL: the lane's position along the rows of a result, in units of `resultRows` rows. */
  readonly resultPlace: string;
  vectors(D: number): number;
  /** WGSL expression of the index of the lane's n-th vec4 within a row. */
  vector(n: string): string;
}

const eachVector = (
  own: LaneResults,
  D: number,
  text: (r: number, n: number) => string,
  separator?: string,
): string => repeat(own.resultRows, r => repeat(own.vectors(D), n => text(r, n), separator), separator);

/** Results that lanes accumulate in separate variables, `NAMEr_n`. */
export const resultsOfLanes = (own: LaneResults): TileResults => ({
  ...own,
  loop: plain => plain,
  specialised: text => text('full_tile'),
  lazyRescaling: null,
  keepsLoops: false,
  accumulators: (name, D) => eachVector(own, D, (r, n) => `var ${name}${r}_${n} = vec4f();`),
  results: (name, D) =>
    `let ${name}_rows = array<vec4f, ${own.resultRows * own.vectors(D)}>(${eachVector(own, D, (r, n) => `${name}${r}_${n}`, ', ')});`,
});

/** Statements that multiply such a result by its factors before more is added to it. */
export const rescaleOfLanes = (own: LaneResults, { into, operand, rescale }: AccumulateGemm): string =>
  rescale ? eachVector(own, operand.D, (r, n) => `${into}${r}_${n} *= ${rescale(r)};`) : '';

/**
 * Statements that store the vec4s of the lane's row `r` in `NAME_rows`: `store` makes the statements for the
 * vec4 x with the index `place` in the row. They store in loops, because drivers take long to compile a
 * store.
 */
export function storeRow(
  backend: TileResults,
  name: string,
  { channels, D }: Pick<TileOperand, 'channels' | 'D'>,
  store: (x: string) => string,
): string {
  const vectors = `(${channels} + 3u) / 4u`;
  return `for (var n = 0u; n < ${backend.keepsLoops ? vectors : `${backend.vectors(D)}u`}; n++) {
      let place = ${backend.vector('n')};
      if (place < ${vectors}) {
        ${store(`${name}_rows[r * ${backend.vectors(D)}u + n]`)}
      }
    }`;
}

/**
 * Statements that store `value(x)` for every vec4 x of the result `into` to a tensor's rows from `first` to
 * `end` (exclusive).
 */
export const storeRows = (
  backend: TileResults,
  into: string,
  operand: TileOperand,
  value: (x: string) => string,
): string => `${backend.results(into, operand.D)}
  for (var r = 0u; r < ${backend.resultRows}u; r++) {
    let s = ${operand.first} + ${backend.resultPlace} * ${backend.resultRows}u + r;
    if (s < ${operand.end}) {
      let row = ${operand.row('s')};
      ${storeRow(backend, into, operand, x => `${operand.name}_store4(row, 4u * place, ${value(x)});`)}
    }
  }`;

/** `weighted(weight, x)`: a masked key has weight 0, which keeps its NaN or infinity out of the result. */
export const weightedPart: ShaderPart = {
  requires: [hasNonFinite],
  code: `fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}`,
};
