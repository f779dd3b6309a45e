import { repeat } from '../../../codegen/text.ts';
import type { LaneGrid, ScoreVectors } from './score-vectors.ts';

/**
 * A value of each of a lane's rows: in an array if scores are computed in a loop, else in a variable per row.
 */
export interface RowValues {
  /** Statements that give each row its initial value, and run `text` for `row`, whose value is `own`. */
  load(initial: string, text: (own: string, row: string) => string): string;
  /** WGSL expression of the value of a row; `row` is that of a `ScoreVector`. */
  of(row: string): string;
}

export function rowValues(name: string, { rows }: LaneGrid, { isLoop }: ScoreVectors): RowValues {
  const of = (row: string): string => (isLoop ? `${name}_rows[${row}]` : `${name}_${row}`);
  return {
    load: (initial, text) =>
      isLoop
        ? `var ${name}_rows = array(${repeat(rows, () => initial, ', ')});
    for (var r = 0u; r < ${rows}u; r++) {
      ${text(of('r'), 'r')}
    }`
        : repeat(rows, r => `var ${of(`${r}u`)} = ${initial};\n    ${text(of(`${r}u`), `${r}u`)}`),
    of,
  };
}
