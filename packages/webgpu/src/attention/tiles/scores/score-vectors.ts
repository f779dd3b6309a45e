import { repeat } from '../../../codegen/text.ts';

/**
 * The lanes of a tile, and the scores of each lane: lane (x, y) has `rows` queries, the first of which is y ·
 * rows, and `cols` vec4s of keys, the first key of which is 4 · x · cols.
 */
export interface LaneGrid {
  /** The number of lanes across keys. */
  readonly tx: number;
  /** The number of lanes across queries. */
  readonly ty: number;
  /** The number of queries of a lane. */
  readonly rows: number;
  /** The number of vec4s of keys of a lane, so 4 · `cols` keys. */
  readonly cols: number;
}

/** One vec4 of a lane's scores, which has four keys of one query, as WGSL expressions. */
export interface ScoreVector {
  /** The lane's row that contains the vec4, and the vec4's first key. The first key of the lane is `j`. */
  readonly row: string;
  readonly key: string;
  /** A value of the vec4. */
  of(value: string): string;
}

/** How a kernel computes values of a lane's score vec4s, each with the same text. */
export interface ScoreVectors {
  /** Whether the text is the body of a loop. */
  readonly isLoop: boolean;
  /**
   * Statements that declare values of all vec4s, for `each` to use.
   * @param read values that earlier text has declared as `VALUE0`, `VALUE1`, …
   * @param computed values that `each` will compute, all of one type.
   */
  declare(read: readonly string[], computed: readonly string[], type?: 'vec4f' | 'Score4'): string;
  /** The statements of `text` for each vec4. */
  each(text: (vector: ScoreVector) => string): string;
  /** WGSL expression of a value of vec4 b. */
  of(value: string, b: number): string;
}

/** One text after the other. */
export const unrolledVectors = ({ rows, cols }: LaneGrid): ScoreVectors => ({
  isLoop: false,
  declare: (_, computed, type = 'vec4f') =>
    repeat(rows * cols, b => computed.map(value => `var ${value}${b} = ${type}();`).join('\n    ')),
  each: text =>
    repeat(rows * cols, b => {
      const c = b % cols;
      const key = c === 0 ? 'j' : `j + ${4 * c}u`;
      return `{
      ${text({ row: `${Math.floor(b / cols)}u`, key, of: value => `${value}${b}` })}
    }`;
    }),
  of: (value, b) => `${value}${b}`,
});

/**
 * The text in a loop over arrays of values, for compilers that inline the stages of scores wherever a kernel
 * calls them: they compile the stages once instead of for each vec4.
 */
export function loopedVectors({ rows, cols }: LaneGrid): ScoreVectors {
  const count = rows * cols;
  const of = (value: string, b: number | 'b'): string => `${value}_vectors[${b}]`;
  const [row, key] = cols === 1 ? ['b', 'j'] : [`b / ${cols}u`, `j + b % ${cols}u * 4u`];
  return {
    isLoop: true,
    declare: (read, computed, type = 'vec4f') =>
      [
        ...read.map(value => `var ${value}_vectors = array(${repeat(count, b => value + b, ', ')});`),
        ...computed.map(value => `var ${value}_vectors = array<${type}, ${count}>();`),
      ].join('\n'),
    each: text => `for (var b = 0u; b < ${count}u; b++) {
      ${text({ row, key, of: value => of(value, 'b') })}
    }`,
    of,
  };
}
