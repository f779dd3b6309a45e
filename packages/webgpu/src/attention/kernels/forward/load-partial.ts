import type { OperandDesc } from '@tilewise/core';
import { lowest, markNonFinite } from '../../../codegen/formats/float-bits.ts';
import { wordTensor } from '../../../codegen/formats/tensor-binding.ts';
import { type KernelSpec, kernelSpec } from '../../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../../codegen/shader-part.ts';
import { type OperandAccess, readOperand } from '../../layout/operand.ts';
import { declareRowVector, type MergedRows } from './merge.ts';
import { partialsPart, rowVectorGrid, rowVectorLanes } from './partials.ts';

/**
 * Copies a part into the workspace as if its softmax had the maximum lse and the sum 1; for a row without
 * keys, the sum is 0.
 */
export function loadPartialKernel(
  rows: MergedRows,
  o: OperandDesc,
  part: number,
  count: number,
  access: OperandAccess,
): KernelSpec {
  const grid = rowVectorGrid(rows);
  const body = `
  ${declareRowVector}
  let first = partial_at(at, P.part);
  let bits = lse[P.lse_base + at];
  let dead = bits == 0xff800000u;
  let m = mark_non_finite(vec4f(bitcast<f32>(bits))).x;
  if (vector == 0u) {
    workspace[first] = select(vec4f(m, 1.0, 0.0, 0.0), vec4f(${lowest}, 0.0, 0.0, 0.0), dead);
  }
  // The o of a part without keys may hold anything, also NaN.
  workspace[first + 1u + vector] = select(o_load4(o_row(seq, h, i), 4u * vector), vec4f(), dead);`;
  return kernelSpec({
    name: 'attention part',
    groups: grid,
    workgroupSize: rowVectorLanes,
    parts: [
      { uniforms: u32Uniforms({ tiles: grid.tiles, part }) },
      ...rows.parts,
      partialsPart(rows.Dv, count, 'read_write'),
      readOperand('o', o, access),
      { ...wordTensor('lse', 'read', 'u32'), requires: [markNonFinite] },
    ],
    body,
  });
}
