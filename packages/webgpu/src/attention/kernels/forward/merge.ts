import type { AttentionProblem, OperandDesc } from '@tilewise/core';
import { lowest } from '../../../codegen/formats/float-bits.ts';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import type { KernelConfig } from '../../config/kernel-config.ts';
import { writeOperand } from '../../layout/operand.ts';
import {
  type RowOutput,
  rowAddressing,
  rowOutput,
  rowOutputsOf,
  softmaxEnd,
  writeRow,
} from '../../layout/row-results.ts';
import { sequencePart } from '../../layout/sequence.ts';
import { sinkPart } from '../../score/sink.ts';
import { partialsPart, rowVectorGrid, rowVectorLanes } from './partials.ts';

/** The rows into which the results of parts of the keys are merged. */
export interface MergedRows extends Pick<AttentionProblem, 'B' | 'Hq' | 'Sq' | 'Dv'> {
  readonly o: OperandDesc;
  readonly outputs: readonly RowOutput[];
  readonly hasSink: boolean;
  /**
   * The shader parts that declare `Sequence` with `b` and `length_q`, `sequence_at`, and, as `rowAddressing`
   * does, `row_at` and `row_count`.
   */
  readonly parts: readonly ShaderPart[];
}

/** The rows of an attention problem. */
export const mergedRows = (problem: AttentionProblem): MergedRows => ({
  ...problem,
  outputs: rowOutputsOf(problem),
  hasSink: problem.sink,
  parts: [...sequencePart(problem, { o: problem.o }), rowAddressing(problem)],
});

/**
 * WGSL that finds the vec4 of an invocation of `rowVectorGrid`: vector `vector` of row `at`, for query `i` of
 * head `h`.
 */
export const declareRowVector: string = `let n = (group % P.tiles) * ${rowVectorLanes}u + lane;
  let i = n / (P.partial_vectors - 1u);
  let vector = n % (P.partial_vectors - 1u);
  if (i >= P.Sq) {
    return;
  }
  let h = (group / P.tiles) % P.Hq;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let at = row_at(seq, h, i);`;

/**
 * The number of parts that an invocation reads before it adds the first, so that these reads are in flight
 * together. They are added without branches, of which SwiftShader's compiler cannot take many in a row.
 */
const partsTogether = 8;
const each = (text: (n: number) => string): string => repeat(partsTogether, text);
/** WGSL expression of the n-th part that is read together with `part`; beyond the end, the last part. */
const partOf = (n: number): string => `min(part + ${n}u, P.parts - 1u)`;

/**
 * Merges `count` softmaxes over disjoint parts of the keys into the softmax over all keys (the split-KV
 * combination of "Flash-Decoding", 2023). The sink is added here, because it belongs to no part:
 *
 *     m = max_n m_n          l = Σ_n e^(m_n − m) l_n          o = Σ_n e^(m_n − m) O_n / l
 *
 * An invocation computes one vector of one row's output; the first invocation of a row also computes lse, max
 * and sumExp.
 */
export function mergeKernel(rows: MergedRows, count: number, config: KernelConfig): KernelSpec {
  const { Dv, o, outputs, hasSink } = rows;
  const grid = rowVectorGrid(rows);
  const end = o.starts === 'strided' ? 'P.Sq' : 'seq.length_q';
  const body = `
  ${declareRowVector}
  var m = ${lowest};
  var l = 0.0;
  var acc = vec4f();
  var scale = 1.0;
  if (i < seq.length_q) {
    // m = max_n m_n
    for (var part = 0u; part < P.parts; part += ${partsTogether}u) {
      ${each(n => `let m_${n} = workspace[partial_at(at, ${partOf(n)})].x;`)}
      ${each(n => `m = max(m, m_${n});`)}
    }
    // l = Σ_n e^(m_n − m)·l_n, O = Σ_n e^(m_n − m)·O_n
    for (var part = 0u; part < P.parts; part += ${partsTogether}u) {
      ${each(
        n => `let first_${n} = partial_at(at, ${partOf(n)});
      let ml_${n} = workspace[first_${n}];
      let o_${n} = workspace[first_${n} + 1u + vector];`,
      )}
      ${each(
        n => `{
        let is_part = part + ${n}u < P.parts;
        let weight = select(0.0, exp(ml_${n}.x - m), is_part);
        l += weight * ml_${n}.y;
        acc += weight * select(vec4f(), o_${n}, is_part);
      }`,
      )}
    }
    ${hasSink ? 'let joined = join_sink(h, m, l);\n    m = joined.x;\n    l = joined.y;\n    scale = joined.z;' : ''}
  }
  if (i < ${end}) {
    o_store4(o_row(seq, h, i), 4u * vector, acc * output_scale(m, l, scale));
  }
  if (vector == 0u && i < row_count(seq)) {
    ${writeRow(outputs, 'm', 'l')}
  }`;
  return kernelSpec({
    name: 'attention merge',
    groups: grid,
    workgroupSize: rowVectorLanes,
    parts: [
      { uniforms: u32Uniforms({ tiles: grid.tiles }) },
      ...rows.parts,
      partialsPart(Dv, count, 'read'),
      writeOperand('o', o, config),
      softmaxEnd,
      ...outputs.map(rowOutput),
      hasSink ? sinkPart() : {},
    ],
    body,
    bindingBudget: config.bindingBudget,
  });
}
