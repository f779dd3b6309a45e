import type { AttentionProblem } from '@tilewise/core';
import type { ForwardFinish, SplitKvTools } from '../../config/kernel-config.ts';
import { storeRow } from '../../tiles/interface/tile-results.ts';
import type { Tile } from '../../tiles/tile.ts';
import { mergedRows, mergeKernel } from './merge.ts';
import { partialsPart } from './partials.ts';
import { rowSums } from './query-rows.ts';

/**
 * Makes the kernels in which several workgroups share the keys of a tile of queries, and the kernel that
 * merges their results.
 */
export const splitKvTools: SplitKvTools = {
  finish: partialFinish,
  range: partOf,
  mergeKernel: (problem, parts, config) => mergeKernel(mergedRows(problem), parts, config),
};

/** Stores the results of one part of the keys. */
function partialFinish(
  { Dv }: AttentionProblem,
  { backend, grid }: Tile,
  parts: number,
  declareRow: string,
): ForwardFinish {
  return {
    code: `// m, l and O of this part, for the merge
  ${backend.results('acc', Dv)}
  ${rowSums(grid.rows)}
  for (var r = 0u; r < ${grid.rows}u; r++) {
    ${declareRow}
    if (query < seq.length_q) {
    let first = partial_at(row_at(seq, head, query), part);
    if (tx == 0u) {
      workspace[first] = vec4f(m_rows[r], l_rows[r], 0.0, 0.0);
    }
    ${storeRow(backend, 'acc', { channels: 'P.Dv', D: Dv }, x => `workspace[first + 1u + vector] = ${x};`)}
    }
  }`,
    operands: {},
    parts: [partialsPart(Dv, parts, 'read_write')],
  };
}

/**
 * `part_of(keys, part)`: the range of keys of one part. All parts but the last have the same number of whole
 * tiles.
 */
function partOf(cols: number): string {
  return `fn part_of(keys: vec2u, part: u32) -> vec2u {
  let first = keys.x / ${cols}u;
  let end = max(first, (keys.y + ${cols - 1}u) / ${cols}u);
  let each = (end - first + P.parts - 1u) / P.parts;
  let begin = first + part * each;
  return vec2u(begin * ${cols}u, min(keys.y, (begin + each) * ${cols}u));
}`;
}
