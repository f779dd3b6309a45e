import type { AttentionProblem } from '@tilewise/core';
import type { ForwardFinish, RowPlaces, SplitKvTools } from '../../config/kernel-config.ts';
import type { Tile } from '../../tiles/tile.ts';
import { eachResultRow, valuesOfRows } from '../../tiles/tile-backend.ts';
import { mergedRows, mergeKernel } from './merge.ts';
import { partialsPart } from './partials.ts';

/** The kernels that share the keys of a tile of queries among workgroups, and merge what these find. */
export const splitKvTools: SplitKvTools = {
  finish: partialFinish,
  range: partOf,
  mergeKernel: (problem, parts, config) => mergeKernel(mergedRows(problem), parts, config),
};

/** The results of one part of the keys. */
function partialFinish(
  { Dv }: AttentionProblem,
  { backend, grid }: Tile,
  parts: number,
  rows: RowPlaces,
): ForwardFinish {
  return {
    code: `// m, l and O of this part, for the merge
  ${valuesOfRows(grid.rows, 'm')}
  ${valuesOfRows(grid.rows, 'l')}
  ${eachResultRow(backend, 'acc', Dv, {
    begin: `${rows.place}
    if (query < seq.length_q) {
    let first = partial_at(row_at(seq, head, query), part);
    if (tx == 0u) {
      workspace[first] = vec4f(m_rows[r], l_rows[r], 0.0, 0.0);
    }`,
    store: (place, x) => `let at = ${place};
      if (at < P.partial_vectors - 1u) {
        workspace[first + 1u + at] = ${x};
      }`,
    end: '}',
    rows: rows.count('seq.length_q'),
    vectors: 'P.partial_vectors - 1u',
  })}`,
    operands: {},
    parts: [partialsPart(Dv, parts, 'read_write')],
  };
}

/** `part_of(keys, part)`: the range of one part, of as many whole tiles as any other but the last. */
function partOf(cols: number): string {
  return `fn part_of(keys: vec2u, part: u32) -> vec2u {
  let first = keys.x / ${cols}u;
  let end = max(first, (keys.y + ${cols - 1}u) / ${cols}u);
  let each = (end - first + P.parts - 1u) / P.parts;
  let begin = first + part * each;
  return vec2u(begin * ${cols}u, min(keys.y, (begin + each) * ${cols}u));
}`;
}
