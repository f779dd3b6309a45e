import { repeat } from '../../../codegen/text.ts';

/**
 * The lanes of a tile, and the scores of each lane: lane (x, y) has `rows` queries, the first of which is y ·
 * rows, and `cols` vec4s of keys, the first key of which is 4 · x · cols.
 */
export interface LaneGrid {
  readonly tx: number;
  readonly ty: number;
  readonly rows: number;
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
   * Statements that compute values of all vec4s.
   * @param read values that earlier text has declared as `VALUE0`, `VALUE1`, …
   * @param computed the values that `text` computes, all of one type.
   */
  each(
    read: readonly string[],
    computed: readonly string[],
    text: (vector: ScoreVector) => string,
    type?: 'vec4f' | 'Score4',
  ): string;
  /** WGSL expression of a value of vec4 b. */
  of(value: string, b: number): string;
}

/** One text after the other. */
export const unrolledVectors = ({ rows, cols }: LaneGrid): ScoreVectors => ({
  isLoop: false,
  each: (_, computed, text, type = 'vec4f') =>
    repeat(rows * cols, b => {
      const c = b % cols;
      const of = (value: string): string => `${value}${b}`;
      return `${computed.map(value => `var ${of(value)} = ${type}();`).join('\n    ')}
    {
      ${text({ row: `${Math.floor(b / cols)}u`, key: c === 0 ? 'j' : `j + ${4 * c}u`, of })}
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
    each: (read, computed, text, type = 'vec4f') => `${[
      ...read.map(value => `var ${value}_vectors = array(${repeat(count, b => value + b, ', ')});`),
      ...computed.map(value => `var ${value}_vectors = array<${type}, ${count}>();`),
    ].join('\n')}
    for (var b = 0u; b < ${count}u; b++) {
      ${text({ row, key, of: value => of(value, 'b') })}
    }`,
    of,
  };
}
