import { subgroupMatrices, subgroupMatrixPart } from '../../../codegen/matrices/matrix-operations.ts';
import { repeat } from '../../../codegen/text.ts';
import { reduceInSubgroup } from '../workgroup/variants/subgroup-row-reduction.ts';
import type { AttentionMatrixInstructions, MatrixTileShape } from './shape.ts';

/** Kernels on the subgroup matrices of a device. */
export function deviceInstructions({
  matrix,
  subgroups,
  pinned = false,
}: Pick<MatrixTileShape, 'matrix' | 'subgroups' | 'pinned'>): AttentionMatrixInstructions {
  return {
    ...subgroupMatrices(matrix),
    part: () => ({
      ...subgroupMatrixPart(matrix, pinned),
      // With one atomic for all subgroups, a stand-alone forward kernel took a fifth longer on an H200.
      code: `var<workgroup> shared_flags: array<u32, ${subgroups}>;`,
    }),
    declareSubgroup: '',
    combineFlags: own => `{
      let combined = subgroupOr(${own});
      if (subgroup_lane == 0u) {
        shared_flags[subgroup] = combined;
      }
      let all = workgroupUniformLoad(&shared_flags);
      flags = ${repeat(subgroups, n => `all[${n}]`, ' | ')};
    }`,
    reduceRows: reduceInSubgroup,
  };
}
