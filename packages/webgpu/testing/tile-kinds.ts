import { matrixTile } from '../src/attention/tiles/matrix/matrix-tile.ts';
import type { ChooseTiles, SubgroupMatrixConfig, SubgroupTile } from '../src/index.ts';
import { plainMatrices } from './plain-matrices.ts';

const keeping = <T>(tile: (own: 'queries' | 'keys') => T): { forward: T; dq: T; dkdv: T } => ({
  ...{ forward: tile('queries'), dq: tile('queries'), dkdv: tile('keys') },
});

const whereRowsFit =
  (choice: ReturnType<ChooseTiles>): ChooseTiles =>
  ({ Dqk, Dv }) =>
    Math.max(Dqk, Dv) <= 128 ? choice : null;

/** Tiles of subgroups of at least `group` lanes, for all problems that they can compute. */
export const tilesOfSubgroups = (
  group: SubgroupTile['group'],
  lanes = 8,
  rows?: SubgroupTile['rows'],
): ChooseTiles => whereRowsFit(keeping(own => ({ through: 'subgroup', own, lanes, group, rows }) as const));

/** Tiles of matrices, likewise; `plain`, as they run anywhere. */
export function tilesOfMatrices(matrix: SubgroupMatrixConfig, subgroups: number, plain = false): ChooseTiles {
  const spelling = plain ? { spelling: plainMatrices(matrix, subgroups) } : {};
  return whereRowsFit(keeping(own => matrixTile({ own, subgroups, matrix, ...spelling })));
}
