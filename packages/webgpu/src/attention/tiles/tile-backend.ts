import { hasNonFinite } from '../../codegen/formats/float-bits.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { repeat } from '../../codegen/text.ts';

/** Rows of a tensor from `first` on, up to `end`. All but D are WGSL expressions. */
export interface TileOperand {
  readonly name: string;
  /** Where row s starts, as `NAME_row` gives it. */
  readonly row: (s: string) => string;
  readonly first: string;
  readonly end: string;
  /** The head size: the uniform that holds it, and its value. */
  readonly channels: 'P.Dqk' | 'P.Dv';
  readonly D: number;
}

/** Products of rows of `a` (queries) and rows of `b` (keys): `into0`, `into1`, … are the vec4s of a lane. */
export interface ScoreGemm {
  readonly into: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
}

/** S = Q·Kᵀ, and in backward dP = dO·Vᵀ. */
export type ScoreGemms = readonly [ScoreGemm] | readonly [ScoreGemm, ScoreGemm];

/** A number of each row of scores, such as its maximum. */
export interface RowReduction {
  readonly name: string;
  /** WGSL expression of what the lane has of its row r. */
  readonly own: (r: number) => string;
  /**
   * WGSL expression that joins two numbers of a row, or vec4fs of such numbers. The order does not matter.
   */
  readonly join: (a: string, b: string) => string;
  /** The number that changes no other that it is joined with. */
  readonly identity: string;
  /** Whether all lanes have met at a barrier since the last reduction. */
  readonly afterBarrier: boolean;
}

/** A sum of weighted rows, such as O += P·V. */
export interface AccumulateGemm {
  /** The accumulators. */
  readonly into: string;
  /** WGSL expression of the weights of the lane's vec4 b of scores. */
  readonly weight: (b: number) => string;
  /** The weighted rows: one for each of the tile's keys, or queries. */
  readonly operand: TileOperand;
  readonly over: 'keys' | 'queries';
  /**
   * WGSL condition: some weights may be 0 because their pair is masked, so that NaN and infinity in the rows
   * must be looked for and kept from results.
   */
  readonly nonFiniteGuard: string;
  /** WGSL expression of the factor of row r of what was added up before, if there is one. */
  readonly rescale?: (r: number) => string;
}

/**
 * How the lanes of a workgroup compute a tile: text of a kernel, in which `lane` is a lane's number and `tx`
 * and `ty` its place. A lane has `resultRows` rows of a result, and of each `vectors(D)` vec4s.
 */
export interface TileBackend extends TileResults {
  /** The declarations of kernels with these products that add up rows of these operands. */
  parts(gemms: readonly ScoreGemm[], summed: readonly TileOperand[]): readonly ShaderPart[];
  /** Statements that declare `tx` and `ty`. */
  readonly place: string;
  /** Statements that load the stationary rows, and prepare for sums over these rows. */
  loadStationary(gemms: readonly ScoreGemm[], summed: readonly TileOperand[]): string;
  /**
   * Statements that declare one or two matrices of products, over the whole head size. They may load rows
   * that are summed up with the same tile, by `sums`, ahead of those: the conditions of the non-finite guards
   * are known here.
   */
  scores(gemms: ScoreGemms, sums: readonly AccumulateGemm[]): string;
  /**
   * Statements that declare a reduction of each of the lane's rows as `NAME0`, …: the same bits in all lanes
   * of a row.
   */
  reduceRows(reduction: RowReduction): string;
  /**
   * Statements that add one or two sums up, after those for the products of the same tile in the same block.
   * Rows and channels beyond those that exist count as 0, and are never read.
   */
  accumulate(gemms: readonly ScoreGemm[], ...sums: readonly AccumulateGemm[]): string;
}

/** Names of the operands that products read rows of. */
export const rowsRead = (gemms: readonly ScoreGemm[]): ReadonlySet<string> =>
  new Set(gemms.flatMap(({ a, b }) => [a.name, b.name]));

/** The results that a tile accumulates. */
export interface TileResults extends LaneResults {
  /** Statements that declare the accumulators of a result. */
  accumulators(name: string, D: number): string;
  /** Rows are better not rescaled for every new maximum. */
  readonly isSlowToRescale: boolean;
  /**
   * The compiler is to leave loops over results as they are, as it takes long for text that is unrolled.
   * Lanes then have whole rows.
   */
  readonly keepsLoops: boolean;
  /** Statements that declare the array `NAME_rows` of a lane's vec4s of a result, if there is none yet. */
  results(name: string, D: number): string;
}

/** Which rows of a result a lane has, and which vec4s of them. */
export interface LaneResults {
  readonly resultRows: number;
  /** WGSL: the lane's place among those that have rows of a result. */
  readonly resultPlace: string;
  vectors(D: number): number;
  /** WGSL expression of which vec4 of a row is the lane's n-th. */
  vector(n: string): string;
}

const eachVector = (
  own: LaneResults,
  D: number,
  text: (r: number, n: number) => string,
  separator?: string,
): string => repeat(own.resultRows, r => repeat(own.vectors(D), n => text(r, n), separator), separator);

/** Results that lanes accumulate in variables of their own, `NAMEr_n`. */
export const resultsOfLanes = (own: LaneResults): TileResults => ({
  ...own,
  isSlowToRescale: false,
  keepsLoops: false,
  accumulators: (name, D) => eachVector(own, D, (r, n) => `var ${name}${r}_${n} = vec4f();`),
  results: (name, D) =>
    `let ${name}_rows = array<vec4f, ${own.resultRows * own.vectors(D)}>(${eachVector(own, D, (r, n) => `${name}${r}_${n}`, ', ')});`,
});

/** Statements that multiply such a result before more is added to it. */
export const rescaleOfLanes = (own: LaneResults, { into, operand, rescale }: AccumulateGemm): string =>
  rescale ? eachVector(own, operand.D, (r, n) => `${into}${r}_${n} *= ${rescale(r)};`) : '';

/**
 * Statements that store the vec4s of the lane's row `r` of `NAME_rows`: `store` gives those for the vec4 x
 * with the number `place` in the row. Loops store them, because drivers take long to compile a store.
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
 * Statements that store `value(x)` of every vec4 x of the result `into` to a tensor's rows from `first` on,
 * below `end`.
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

/** `weighted(weight, x)`: a masked key has weight 0, which keeps its NaN or infinity from the result. */
export const weightedPart: ShaderPart = {
  requires: [hasNonFinite],
  code: `// A masked key has weight 0, which keeps its NaN or infinity out.
fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}`,
};
