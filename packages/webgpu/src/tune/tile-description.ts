import { InvalidArgumentError } from '@tilewise/core';
import { matrixTile } from '../attention/tiles/matrix/matrix-tile.ts';
import { multipliesAsIs } from '../attention/tiles/matrix/matrix-tiles.ts';
import type { MatrixTileShape } from '../attention/tiles/matrix/memory.ts';
import type { SubgroupTile, Tile, WorkgroupTileShape } from '../attention/tiles/tile.ts';
import { type ChooseTiles, type TileChoice, tileReason } from '../attention/tiles/tile-choice.ts';
import { workgroupTile } from '../attention/tiles/workgroup/workgroup-tile.ts';
import type { SubgroupMatrixConfig } from '../device/subgroup-matrix-configs.ts';

/** A tile as plain data, to be kept as JSON. */
export type TileDescription = WorkgroupTileShape | SubgroupTile | MatrixTileDescription;

/** What a tile of subgroup matrices is made of. */
export interface MatrixTileDescription extends Omit<MatrixTileShape, 'spelling'> {
  readonly through: 'matrix';
}

/** A kernel that a tile is chosen for. */
export type TileRole = keyof TileChoice;

export const tileRoles: readonly TileRole[] = ['forward', 'decode', 'dq', 'dkdv'];

/** Tiles of the large kernels as plain data; where one is missing, that of the table. */
export type TileDescriptions = { readonly [Role in TileRole]?: TileDescription };

/** The tile that a description says. */
export function describedTile(description: TileDescription): Tile {
  if (description.through === 'subgroup') return description;
  if (description.through !== 'matrix') return workgroupTile(description);
  const { own, subgroups, matrix, pinned } = description;
  return matrixTile({ own, subgroups, matrix, pinned });
}

/**
 * Tiles that were kept, for `createContext({ tiles })`. A problem or a device that one of them is not for (a head size above 128 on
 * tiles that keep rows, another dtype than that of the matrices) takes the table's.
 * @throws InvalidArgumentError for what describes no tile of its kernel, as JSON from elsewhere may.
 */
export function tilesFrom(descriptions: TileDescriptions): ChooseTiles {
  checkDescriptions('descriptions', descriptions);
  const tiles = tileRoles.flatMap(role => {
    const description = descriptions[role];
    return description ? [{ role, tile: describedTile(description), description }] : [];
  });
  return (problem, capabilities) => {
    const able = tiles.filter(
      ({ role, tile, description }) =>
        tileReason(role, tile, problem, capabilities) === null &&
        (description.through !== 'matrix' || multipliesAsIs(description.matrix, problem)),
    );
    return Object.fromEntries(able.map(({ role, tile }) => [role, tile]));
  };
}

/** @throws InvalidArgumentError naming the first part that describes no tile of its kernel. */
function checkDescriptions(argument: string, descriptions: TileDescriptions): void {
  if (typeof descriptions !== 'object' || descriptions === null)
    throw new InvalidArgumentError(argument, `must be an object, got ${descriptions}`);
  for (const [role, description] of Object.entries(descriptions)) {
    if (!tileRoles.some(known => known === role))
      throw new InvalidArgumentError(argument, `must hold tiles of ${tileRoles.join(', ')}, got ${role}`);
    checkDescription(`${argument}.${role}`, role as TileRole, description);
  }
}

/** @throws InvalidArgumentError for what describes no tile of a kernel. */
export function checkDescription(argument: string, role: TileRole, description: TileDescription): void {
  const rule = brokenRule(role, description);
  if (rule) throw new InvalidArgumentError(argument, `${rule}, got ${JSON.stringify(description)}`);
}

const isCount = (n: unknown): boolean => Number.isInteger(n) && Number(n) > 0;
const sides: readonly unknown[] = [8, 16] satisfies SubgroupMatrixConfig['M'][];
const components: readonly unknown[] = ['f16', 'f32'] satisfies SubgroupMatrixConfig['component'][];
const joins: readonly unknown[] = ['workgroup', 'subgroup'] satisfies WorkgroupTileShape['statistics'][];

/** The rule that a description breaks. Types say the same; but what was kept as JSON has none. */
function brokenRule(role: TileRole, description: TileDescription): string | null {
  if (typeof description !== 'object' || description === null) return 'must describe a tile';
  if (description.through === undefined || description.through === 'workgroup') {
    const {
      tx,
      ty,
      depth,
      rows = 4,
      cols = 1,
      pool = 'f32',
      arithmetic = 'f32',
      prefetch = false,
      statistics = 'workgroup',
    } = description;
    const isGrid = [tx, ty, depth].every(isCount) && [4, 8].includes(rows) && [1, 2].includes(cols);
    if (!isGrid) return 'must have a tx, ty and depth of at least 1, rows of 4 or 8, and cols of 1 or 2';
    const isMade =
      components.includes(pool) && components.includes(arithmetic) && typeof prefetch === 'boolean';
    return isMade && joins.includes(statistics)
      ? null
      : 'must have a pool and arithmetic of f16 or f32, prefetch or not, and statistics by workgroup or subgroup';
  }
  if (description.through !== 'subgroup' && description.through !== 'matrix')
    return 'must go through workgroup, subgroup or matrix';
  if (role === 'decode') return 'must go through workgroup memory';
  const own = role === 'dkdv' ? 'keys' : 'queries';
  if (description.own !== own) return `must keep ${own}`;
  if (description.through === 'subgroup') {
    const { lanes, group } = description;
    return isCount(lanes) && lanes % 2 === 0 && (group === 4 || group === 8)
      ? null
      : 'must have an even number of lanes, and a group of 4 or 8';
  }
  const { subgroups, matrix, pinned = false } = description;
  const { M, N, K, component } = matrix ?? {};
  const isShape = [M, N, K].every(n => sides.includes(n)) && components.includes(component);
  return isCount(subgroups) && isShape && typeof pinned === 'boolean'
    ? null
    : 'must have subgroups, pinned or not, and a matrix of M, N and K of 8 or 16 in f16 or f32';
}
