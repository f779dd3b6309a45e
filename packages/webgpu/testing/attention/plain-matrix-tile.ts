import { spelledMatrixTile } from '../../src/attention/tiles/matrix/matrix-kind.ts';
import type { AttentionMatrixSpelling, MatrixTileShape } from '../../src/attention/tiles/matrix/shape.ts';
import { reduceInSubgroup } from '../../src/attention/tiles/workgroup/variants/subgroup-row-reduction.ts';
import { lanes } from '../../src/codegen/matrices/subgroup-lanes.ts';
import { repeat } from '../../src/codegen/text.ts';
import type { Tile } from '../../src/index.ts';
import { plainMatrices } from '../matrices/plain-matrices.ts';

/**
 * A tile of matrices that runs on every device. Without `notes`, the lanes of a workgroup do not tell each
 * other what they have noticed: they need not where all tiles are full, and no row is rescaled. Kernels then
 * have no barriers but those of full tiles.
 */
export const plainMatrixTile = (
  shape: Omit<MatrixTileShape, 'kind'>,
  { notes = true }: { readonly notes?: boolean } = {},
): Tile => spelledMatrixTile({ kind: 'matrix', ...shape }, plainSpelling(shape, notes), false);

function plainSpelling(
  { matrix, subgroups }: Omit<MatrixTileShape, 'kind'>,
  hasNotes: boolean,
): AttentionMatrixSpelling {
  const { part, ...operations } = plainMatrices(matrix);
  const all = lanes * subgroups;
  return {
    ...operations,
    part(arrays) {
      const own = part(arrays);
      return {
        ...own,
        directives: [...(own.directives ?? []), 'enable subgroups;', 'diagnostic(off, subgroup_uniformity);'],
        code: `var<workgroup> notes: array<u32, ${all}>;\n${own.code}`,
      };
    },
    joinNotes: own =>
      hasNotes
        ? `{
      notes[lane] = ${own};
      let all = workgroupUniformLoad(&notes);
      noted = ${repeat(all, n => `all[${n}]`, ' | ')};
    }`
        : '',
    // The two lanes of a row are adjacent, so they are in one subgroup of every adapter that tests run on.
    reduceRows: reduceInSubgroup,
  };
}
