import type { ShaderPart } from '../kernel/shader-part.ts';
import { hasNonFinite } from '../wgsl/float-bits.ts';
import { repeat } from './tile.ts';

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

/** One matrix of products, rows of `a` (queries) by rows of `b` (keys): declared as `into0`, `into1`, …, the vec4s of a lane. */
export interface Product {
  readonly into: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
}

/** A sum of weighted rows. */
export interface WeightedSum {
  /** The accumulators that it is added to. */
  readonly into: string;
  /** WGSL expression of the weights of the lane's vec4 b of scores. */
  readonly weight: (b: number) => string;
  /** What is weighted: a row for each of the tile's keys, or queries. */
  readonly operand: TileOperand;
  readonly over: 'keys' | 'queries';
  /** WGSL condition: some weights may be 0 because their pair is not seen, so that garbage must be looked for. */
  readonly watch: string;
}

/**
 * How the lanes of a workgroup compute with one tile: text of a kernel, in which `lane` is a lane's number and `tx` and `ty` its
 * place. A lane accumulates `resultRows` rows of a result, and of each `vectors(D)` vec4s, in the variables `NAMEr_n`.
 */
export interface TileWork {
  readonly parts: readonly ShaderPart[];
  /** Statements that declare `tx` and `ty`. */
  readonly place: string;
  /** Statements that declare one or two matrices of products, over the whole head size. */
  products(all: readonly [Product] | readonly [Product, Product]): string;
  /** Statements that add one or two sums up. Rows and channels beyond those that exist count as 0, and are never read. */
  accumulate(...sums: readonly WeightedSum[]): string;
  readonly resultRows: number;
  /** WGSL: the lane's place among those who have rows of a result. */
  readonly resultPlace: string;
  vectors(D: number): number;
  /** WGSL: which vec4 of a row is the lane's n-th. */
  vector(n: number): string;
}

/** Declares the accumulators `NAMEr_n` of a result. */
export const accumulators = (work: TileWork, name: string, D: number): string =>
  repeat(
    work.resultRows,
    r => repeat(work.vectors(D), n => `var ${name}${r}_${n} = vec4f();`, '\n  '),
    '\n  ',
  );

/** Stores `value(r, n)` of every accumulator to a tensor's rows from `first` on, below `end`. */
export function storeRows(
  { resultRows, resultPlace, vectors, vector }: TileWork,
  { name, row, first, end, channels, D }: TileOperand,
  value: (r: number, n: number) => string,
): string {
  const at = (r: number): string => `${first} + ${resultPlace} * ${resultRows}u + ${r}u`;
  return repeat(
    resultRows,
    r => `if (${at(r)} < ${end}) {
    let row = ${row(`(${at(r)})`)};
    ${repeat(
      vectors(D),
      n => `if (4u * (${vector(n)}) < ${channels}) {
      ${name}_store4(row, 4u * (${vector(n)}), ${value(r, n)});
    }`,
      '\n    ',
    )}
  }`,
    '\n  ',
  );
}

/** `weighted(weight, x)`: a key that a query does not see has weight 0, which keeps it from reaching the query as 0 · NaN. */
export const weightedPart: ShaderPart = {
  requires: [hasNonFinite],
  code: `fn weighted(weight: f32, x: vec4f) -> vec4f {
  return select(weight * x, vec4f(), weight == 0.0);
}`,
};
