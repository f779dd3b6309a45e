import { repeat } from '../../../codegen/text.ts';
import type { LazyRescaling } from '../scores/lazy-rescaling.ts';
import type { AccumulateGemm, ScoreGemm, TileOperand } from './tile-gemms.ts';

/** A loop over the tiles of the streamed side. */
export interface TileLoop {
  /** The variable of the loop: the first row of the tile on the streamed side. */
  readonly variable: 'i0' | 'j0';
  /** The name of the rows [x, y) that the tiles must cover, a vec2u. */
  readonly range: string;
  /** The number of rows of a tile. */
  readonly size: number;
  /** WGSL condition that the tile at this value of the variable is full. */
  readonly isFull: (at: string) => string;
  /**
   * Statements that compute a tile, which is full if the condition holds: those of `scores` and, at the end,
   * those of `accumulate`.
   */
  readonly body: (isFull: string) => string;
}

/** The results that a tile accumulates. */
export interface TileResults extends LaneResults {
  /** Statements that loop over tiles. `gemms`, `sums` and `visible` are those of the loop's body. */
  loop(loop: TileLoop, gemms: readonly ScoreGemm[], sums: readonly AccumulateGemm[], visible: string): string;
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
  /** WGSL: the index of the lane's block of `resultRows` rows in a result. */
  readonly resultBlock: string;
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
  loop: ({ variable, range, size, isFull, body }) =>
    `for (var ${variable} = ${range}.x / ${size}u * ${size}u; ${variable} < ${range}.y; ${variable} += ${size}u) {${body(isFull(variable))}
  }`,
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
 * vec4 x with the index `vector` in the row. They store in loops, because drivers take long to compile a
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
      let vector = ${backend.vector('n')};
      if (vector < ${vectors}) {
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
    let s = ${operand.first} + ${backend.resultBlock} * ${backend.resultRows}u + r;
    if (s < ${operand.end}) {
      let row = ${operand.row('s')};
      ${storeRow(backend, into, operand, x => `${operand.name}_store4(row, 4u * vector, ${value(x)});`)}
    }
  }`;
