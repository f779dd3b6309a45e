import { matrixTileWith } from '../../src/attention/tiles/matrix/matrix-kind.ts';
import type { AttentionMatrixInstructions, MatrixTileShape } from '../../src/attention/tiles/matrix/shape.ts';
import { reduceInSubgroup } from '../../src/attention/tiles/workgroup/variants/subgroup-row-reduction.ts';
import { lanes } from '../../src/codegen/matrices/subgroup-lanes.ts';
import { repeat } from '../../src/codegen/text.ts';
import type { Tile } from '../../src/index.ts';
import { plainMatrices } from '../matrices/plain-matrices.ts';

/**
 * A tile of matrices that runs on every device.
 *
 * @param options `flags`: whether lanes tell the others of their workgroup that a row must be rescaled, or
 * holds a NaN or infinity (default). Without these flags, which need barriers, results are right only if all
 * tiles are full and no row is rescaled; the kernels then have only the barriers that full tiles need.
 */
export const plainMatrixTile = (
  shape: Omit<MatrixTileShape, 'kind'>,
  options: { readonly flags?: boolean | undefined } = {},
): Tile =>
  matrixTileWith({ kind: 'matrix', ...shape }, plainInstructions(shape, options.flags ?? true), false);

function plainInstructions(
  { matrix, subgroups }: Omit<MatrixTileShape, 'kind'>,
  hasFlags: boolean,
): AttentionMatrixInstructions {
  const { part, ...operations } = plainMatrices(matrix);
  const all = lanes * subgroups;
  return {
    ...operations,
    part(arrays) {
      const own = part(arrays);
      return {
        ...own,
        directives: [...(own.directives ?? []), 'enable subgroups;', 'diagnostic(off, subgroup_uniformity);'],
        code: `var<workgroup> shared_flags: array<u32, ${all}>;\n${own.code}`,
      };
    },
    combineFlags: own =>
      hasFlags
        ? `{
      shared_flags[lane] = ${own};
      let all = workgroupUniformLoad(&shared_flags);
      flags = ${repeat(all, n => `all[${n}]`, ' | ')};
    }`
        : '',
    // The two lanes of a row are adjacent, so they are in one subgroup of every adapter that tests run on.
    reduceRows: reduceInSubgroup,
  };
}
