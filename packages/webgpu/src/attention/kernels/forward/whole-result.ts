import type { AttentionProblem } from '@tilewise/core';
import type { Fp8Kernel } from '../../config/fp8-steps.ts';
import type { ForwardFinish, KernelConfig } from '../../config/kernel-config.ts';
import { writeOperand } from '../../layout/operand.ts';
import { rowOutput, rowOutputsOf, softmaxEnd, writeRow } from '../../layout/row-results.ts';
import { sinkPart } from '../../score/sink.ts';
import { storeRow } from '../../tiles/interface/tile-results.ts';
import type { Tile } from '../../tiles/tile.ts';
import { tileResult } from '../../tiles/tile-operands.ts';
import { type QueryRows, rowSums } from './query-rows.ts';

/**
 * The end of a forward kernel whose workgroups have all keys of their rows: stores o (except in FP8), lse,
 * and the other requested outputs.
 */
export function wholeResult(
  problem: AttentionProblem,
  tile: Tile,
  rows: QueryRows,
  config: KernelConfig,
  fp8: Fp8Kernel,
): ForwardFinish {
  const outputs = rowOutputsOf(problem);
  const hasValues = problem.fp8?.kind !== 'scaled';
  const { backend } = tile;
  const own = tile.grid.rows;
  const o = tileResult('o', problem, problem.o);
  const [m, l, scale] = problem.sink
    ? ['joined.x', 'joined.y', 'joined.z']
    : ['m_rows[r]', 'l_rows[r]', '1.0'];
  return {
    code: `// o = O / l, lse = m + ln l
  ${hasValues ? backend.results('acc', problem.Dv) : ''}
  ${rowSums(own)}
  for (var r = 0u; r < ${own}u; r++) {
    ${rows.declareRow('r')}${
      problem.sink
        ? `
    var joined = vec3f(m_rows[r], l_rows[r], 1.0);
    if (query < seq.length_q) {
      joined = join_sink(head, joined.x, joined.y);
    }`
        : ''
    }
    let m = ${m};
    let l = ${l};
    let scale = output_scale(m, l, ${scale});
    ${
      hasValues
        ? `if (query < ${o.end}) {
      let row = o_row(seq, head, query);
      ${storeRow(backend, 'acc', o, x => `o_store4(row, 4u * vector, ${fp8.apply('o', `${x} * scale`)});`)}
    }`
        : ''
    }
    if (tx == 0u && query < row_count(seq)) {
      let at = row_at(seq, head, query);
      ${writeRow(outputs, 'm', 'l')}
    }
  }`,
    operands: hasValues ? { o: problem.o } : {},
    parts: [
      ...(hasValues ? [writeOperand('o', problem.o, config)] : []),
      softmaxEnd,
      ...outputs.map(rowOutput),
      problem.sink ? sinkPart() : {},
    ],
  };
}
