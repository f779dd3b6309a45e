import { spelledMatrixTile } from '../../src/attention/tiles/matrix/matrix-kind.ts';
import type { AttentionMatrixSpelling, MatrixTileShape } from '../../src/attention/tiles/matrix/shape.ts';
import { lanes } from '../../src/codegen/matrices/subgroup-lanes.ts';
import type { Tile } from '../../src/index.ts';
import { plainMatrices } from '../matrices/plain-matrices.ts';

/** A tile of matrices that runs on every device. */
export const plainMatrixTile = (shape: Omit<MatrixTileShape, 'kind'>): Tile =>
  spelledMatrixTile({ kind: 'matrix', ...shape }, plainSpelling(shape), false);

function plainSpelling({ matrix, subgroups }: Omit<MatrixTileShape, 'kind'>): AttentionMatrixSpelling {
  const { part, ...operations } = plainMatrices(matrix, subgroups);
  return {
    ...operations,
    part(arrays) {
      const own = part(arrays);
      return {
        ...own,
        code: `var<workgroup> notes: atomic<u32>;
var<workgroup> row_partial: array<f32, ${lanes * subgroups}>;
${own.code}`,
      };
    },
    joinNotes: own => `if (${own} != 0u) {
      atomicOr(&notes, ${own});
    }
    noted = workgroupUniformLoad(&notes);
    if (lane == 0u) {
      atomicStore(&notes, 0u);
    }`,
    // A lane has one row or half of a row.
    reduceRows: ({ tx }, { name, own, join, identity }) => `workgroupBarrier();
    row_partial[ty * ${tx}u + tx] = ${own(0)};
    workgroupBarrier();
    var ${name}0 = ${identity};
    for (var x = 0u; x < ${tx}u; x++) {
      ${name}0 = ${join(`${name}0`, `row_partial[ty * ${tx}u + x]`)};
    }`,
  };
}
