import type { ShaderPart } from '../../../codegen/shader-part.ts';
import { repeat } from '../../../codegen/text.ts';
import { reduceInSubgroup } from '../workgroup/variants/subgroup-row-reduction.ts';
import { lanes, type MatrixKind, type MatrixSpelling, type MatrixTileShape } from './shape.ts';

/**
 * Dawn's extension `chromium_experimental_subgroup_matrix`. Its types name columns before rows. Offsets and
 * strides are in elements of the array, as in SPIR-V.
 */
export function subgroupMatrices({
  matrix: { M, N, K, component },
  subgroups,
  pinned = false,
}: Pick<MatrixTileShape, 'matrix' | 'subgroups' | 'pinned'>): MatrixSpelling {
  const types: Readonly<Record<MatrixKind, string>> = {
    left: `subgroup_matrix_left<${component}, ${K}, ${M}>`,
    right: `subgroup_matrix_right<${component}, ${N}, ${K}>`,
    result: `subgroup_matrix_result<f32, ${N}, ${M}>`,
  };
  const part: ShaderPart = {
    directives: [
      ...(component === 'f16' ? ['enable f16;'] : []),
      'enable subgroups;',
      'enable chromium_experimental_subgroup_matrix;',
      ...(pinned ? ['enable subgroup_size_control;'] : []),
      'diagnostic(off, chromium.subgroup_matrix_uniformity);',
    ],
    attributes: pinned ? [`@subgroup_size(${lanes})`] : [],
    builtins: ['@builtin(subgroup_id) subgroup: u32', '@builtin(subgroup_invocation_id) subgroup_lane: u32'],
    // With one atomic for all subgroups, a stand-alone forward kernel took a fifth longer on an H200.
    code: `var<workgroup> notes: array<u32, ${subgroups}>;`,
  };
  const pointer = (array: string): string => (array === 'scratch' ? '&scratch[subgroup]' : `&${array}`);
  return {
    part: () => part,
    place: '',
    zero: `${types.result}()`,
    load: (kind, { in: array, offset, stride, order }) =>
      `subgroupMatrixLoad<${types[kind]}, ${order}>(${pointer(array)}, ${offset}, ${stride}u)`,
    multiplyAccumulate: (a, b, c) => `subgroupMatrixMultiplyAccumulate(${a}, ${b}, ${c})`,
    store: (matrix, { in: array, offset, stride, order }) =>
      `subgroupMatrixStore<${order}>(${pointer(array)}, ${offset}, ${matrix}, ${stride}u);`,
    joinNotes: own => `{
      let joined = subgroupOr(${own});
      if (subgroup_lane == 0u) {
        notes[subgroup] = joined;
      }
      let all = workgroupUniformLoad(&notes);
      noted = ${repeat(subgroups, n => `all[${n}]`, ' | ')};
    }`,
    reduceRows: reduceInSubgroup,
  };
}
