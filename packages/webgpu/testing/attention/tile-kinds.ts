import type { Stationary, SubgroupMatrixConfig, Tile, TileSelector } from '../../src/index.ts';
import { matrixTile } from '../../src/subpaths/matrix.ts';
import { type SubgroupTileShape, subgroupTile } from '../../src/subpaths/tiles.ts';
import { plainMatrixTile } from './plain-matrix-tile.ts';

const bySide = (tile: (stationary: Stationary) => Tile): { forward: Tile; dq: Tile; dkdv: Tile } => ({
  ...{ forward: tile('queries'), dq: tile('queries'), dkdv: tile('keys') },
});

const whereRowsFit =
  (choice: ReturnType<TileSelector>): TileSelector =>
  ({ Dqk, Dv }) =>
    Math.max(Dqk, Dv) <= 128 ? choice : null;

/** Chooses tiles of subgroups with at least `group` lanes, for all problems that they can compute. */
export const tilesOfSubgroups = (
  group: SubgroupTileShape['group'],
  lanes = 8,
  rows?: SubgroupTileShape['rows'],
): TileSelector => whereRowsFit(bySide(stationary => subgroupTile({ stationary, lanes, group, rows })));

/**
 * Chooses tiles of matrices in the same way; with `plain`, tiles that run on every device, for which
 * `plainMatrixTile` explains `flags`.
 */
export const tilesOfMatrices = (
  matrix: SubgroupMatrixConfig,
  subgroups: number,
  {
    plain = false,
    heldRows,
    flags,
  }: { readonly plain?: boolean; readonly heldRows?: 16 | 32; readonly flags?: boolean } = {},
): TileSelector =>
  whereRowsFit(
    bySide(stationary => {
      const rows = stationary === 'queries' && heldRows ? { heldRows } : {};
      const shape = { stationary, subgroups, matrix, ...rows };
      return plain ? plainMatrixTile(shape, { flags }) : matrixTile(shape);
    }),
  );
