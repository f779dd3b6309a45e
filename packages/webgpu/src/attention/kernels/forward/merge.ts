import type { AttentionProblem } from '@tilewise/core';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import type { KernelConfig } from '../../kernel-config.ts';
import { writeOperand } from '../../layout/operand.ts';
import { lowest, rowAddressing, rowOutput, rowOutputsOf, writeRow } from '../../layout/row-results.ts';
import { sequencePart } from '../../layout/sequence.ts';
import { sinkPart } from '../../score/sink.ts';
import { tileResult } from '../../tiles/tile-operands.ts';
import { partialsPart, rowVectorGrid } from './partials.ts';

const lanes = 64;

/**
 * The softmax over all keys from `parts` softmaxes over disjoint parts of them (the split-KV combination of
 * "Flash-Decoding", 2023), which joins the sink too, as it belongs to no part:
 *
 *     m = max_n m_n          l = Σ_n e^(m_n − m) l_n          o = Σ_n e^(m_n − m) O_n / l
 *
 * An invocation gives one vector of one row's output; the first of a row gives lse, max and sumExp as well.
 */
export function mergeKernel(problem: AttentionProblem, parts: number, config: KernelConfig): KernelSpec {
  const { Dv } = problem;
  const { row, end } = tileResult('o', problem, problem.o);
  const rowOutputs = rowOutputsOf(problem);
  const body = `
  let n = (group % P.tiles) * ${lanes}u + lane;
  let i = n / (P.partial_vectors - 1u);
  let vector = n % (P.partial_vectors - 1u);
  if (i >= P.Sq) {
    return;
  }
  let h = (group / P.tiles) % P.Hq;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let at = row_at(seq, h, i);
  var m = ${lowest};
  var l = 0.0;
  var acc = vec4f();
  var scale = 1.0;
  if (i < seq.length_q) {
    for (var part = 0u; part < P.parts; part++) {
      m = max(m, workspace[partial_at(at, part)].x);
    }
    for (var part = 0u; part < P.parts; part++) {
      let first = partial_at(at, part);
      let weight = exp(workspace[first].x - m);
      l += weight * workspace[first].y;
      acc += weight * workspace[first + 1u + vector];
    }
    ${problem.sink ? 'let joined = join_sink(h, m, l);\n    m = joined.x;\n    l = joined.y;\n    scale = joined.z;' : ''}
  }
  if (i < ${end}) {
    o_store4(${row('i')}, 4u * vector, acc * select(0.0, scale / l, l != 0.0));
  }
  if (vector == 0u && i < row_count(seq)) {
    ${writeRow(rowOutputs, 'm', 'l')}
  }`;
  return kernelSpec({
    name: 'attention merge',
    groups: rowVectorGrid(problem, lanes),
    workgroupSize: lanes,
    parts: [
      { uniforms: [{ name: 'tiles', type: 'u32', value: rowVectorGrid(problem, lanes).tiles }] },
      ...sequencePart(problem, { o: problem.o }),
      partialsPart(Dv, parts, 'read'),
      writeOperand('o', problem.o, config),
      rowAddressing(problem),
      ...rowOutputs.map(rowOutput),
      problem.sink ? sinkPart() : {},
    ],
    body,
    bindingBudget: config.bindingBudget,
  });
}
