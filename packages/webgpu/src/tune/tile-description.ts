import { InvalidArgumentError } from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';
import { matrixKind } from '../attention/tiles/matrix/matrix-kind.ts';
import type { MatrixTileShape } from '../attention/tiles/matrix/shape.ts';
import type { SubgroupTileShape } from '../attention/tiles/subgroup/shape.ts';
import { subgroupKind } from '../attention/tiles/subgroup/subgroup-kind.ts';
import { roleReason, type Tile, type TileRole, tileRoles } from '../attention/tiles/tile.ts';
import { type TileSelector, unsuitedReason } from '../attention/tiles/tile-choice.ts';
import { workgroupKind } from '../attention/tiles/workgroup/workgroup-kind.ts';
import type { WorkgroupTileShape } from '../attention/tiles/workgroup/workgroup-tile.ts';
import { brokenFieldRule, type TileKind } from '../codegen/tile-kind.ts';

/** A tile as plain data, which can be stored as JSON. */
export type TileDescription = WorkgroupTileShape | SubgroupTileShape | MatrixTileShape;

/**
 * Tiles of the large kernels as plain data. A kernel without an entry gets the tile of the built-in table.
 */
export type TileDescriptions = { readonly [Role in TileRole]?: TileDescription };

const kinds: readonly TileKind<TileDescription, Tile>[] = [workgroupKind, subgroupKind, matrixKind];

const kindOf = ({ kind = 'workgroup' }: TileDescription): TileKind<TileDescription, Tile> | undefined =>
  kinds.find(({ name }) => name === kind);

/** Whether the tile's `shape` suffices to make the tile again. */
export const isDescription = (shape: Tile['shape']): shape is TileDescription =>
  kinds.some(({ name }) => name === (shape.kind ?? 'workgroup'));

/** The tile that a checked description describes. */
export function describedTile(description: TileDescription): Tile {
  const kind = kindOf(description);
  if (!kind) throw new TypeError(`no tile kind ${description.kind}`);
  return kind.tile(description);
}

/** A description in a few words, for people. */
export const describeTile = (description: TileDescription): string =>
  kindOf(description)?.describe(description) ?? 'unknown';

/**
 * Makes the option `tiles` of `createContext` from stored tiles. If one of them does not suit a problem or a
 * device (for example a head size above 128 on tiles with stationary rows, or a dtype other than that of the
 * matrices), the tile of the built-in table is used.
 * @throws InvalidArgumentError for a description that is not a tile of its kernel, as JSON from elsewhere may
 * contain.
 */
export function tilesFrom(descriptions: TileDescriptions): TileSelector {
  checkDescriptions('descriptions', descriptions);
  const tiles = tileRoles.flatMap(role => {
    const description = descriptions[role];
    return description ? [{ role, tile: describedTile(description) }] : [];
  });
  return (problem, capabilities) => {
    const { q, k, v } = problem;
    const able = tiles.filter(
      ({ role, tile }) =>
        tile.unsupported(role, problem, capabilities) === null &&
        unsuitedReason(tile, problem, [q, k, v]) === null,
    );
    return Object.fromEntries(able.map(({ role, tile }) => [role, tile]));
  };
}

/** @throws InvalidArgumentError naming the first description that is not a tile of its kernel. */
function checkDescriptions(argument: string, descriptions: TileDescriptions): void {
  checkObject(argument, descriptions);
  for (const [name, description] of Object.entries(descriptions)) {
    const role = tileRoles.find(known => known === name);
    if (!role)
      throw new InvalidArgumentError(argument, `must hold tiles of ${tileRoles.join(', ')}, got ${name}`);
    checkDescription(`${argument}.${role}`, role, description);
  }
}

/** @throws InvalidArgumentError if the description is not a tile of the kernel. */
export function checkDescription(argument: string, role: TileRole, description: TileDescription): void {
  const rule = brokenRule(role, description);
  if (rule) throw new InvalidArgumentError(argument, `${rule}, got ${asJson(description)}`);
}

/**
 * The rule that a description breaks, or null. The types state the same rules, but stored JSON has no types.
 */
function brokenRule(role: TileRole, description: TileDescription): string | null {
  if (typeof description !== 'object' || description === null) return 'must describe a tile';
  const kind = kindOf(description);
  if (!kind) return `must be of kind ${kinds.map(({ name }) => name).join(', ')}`;
  const rule = brokenFieldRule(kind, description) ?? kind.brokenRule(description);
  if (rule) return rule;
  return 'stationary' in description ? roleReason(role, description.stationary) : null;
}

/** The JSON of an unknown value. */
const asJson = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part));
