import { type AttentionProblem, describeValue, InvalidArgumentError, type OperandDesc } from '@tilewise/core';
import type { TileKind } from '../../codegen/tile-kind.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { SubgroupTileShape } from './subgroup/shape.ts';
import type { Tile, TileRole } from './tile.ts';
import type { WorkgroupTileSizes } from './workgroup/workgroup-tile.ts';

/**
 * Tiles of the large kernels of a problem. A kernel uses the tile of the built-in table if its own is
 * missing, would round operands, or cannot multiply in 8 bits.
 */
export type TileChoice = { readonly [Role in TileRole]?: Tile | undefined };

/**
 * Returns the tiles that a context uses for a problem, or null for those of the built-in table. Must return
 * the same tiles for the same problem.
 */
export type TileSelector = (problem: AttentionProblem, capabilities: Capabilities) => TileChoice | null;

/**
 * Tile kinds that the built-in table uses on some adapters only. `createContext` loads those that its adapter
 * needs.
 */
export interface LoadedTileKinds {
  readonly subgroup?: TileKind<SubgroupTileShape, Tile>;
  readonly adapterTiles?: AdapterTiles;
  readonly decodeTile?: DecodeTile;
}

/** The tile for few queries that some adapters use instead of a plain one of the sizes in the table. */
export type DecodeTile = (
  sizes: WorkgroupTileSizes,
  problem: AttentionProblem,
  capabilities: Capabilities,
) => Tile;

/** The tiles that the built-in table uses on some adapters; null where it uses the baseline tile. */
export type AdapterTiles = (
  role: 'forward' | 'dq' | 'dkdv',
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  capabilities: Capabilities,
) => Tile | null;

/** The properties of a device that determine the tiles of its kernels. */
export interface TileTarget {
  readonly capabilities: Capabilities;
  readonly tileKinds?: LoadedTileKinds;
  /** Tiles to use instead of those of the built-in table. */
  readonly tiles?: TileSelector | undefined;
}

/**
 * The reason why a tile cannot take the operands as they are stored, or would round probabilities to
 * infinity; null if there is none.
 */
export function unsuitedReason(
  { operandDType, maxDropoutScale }: Tile,
  { dropout }: AttentionProblem,
  operands: readonly OperandDesc[],
): string | null {
  const other = operandDType && operands.find(({ dtype }) => dtype !== operandDType);
  if (other) return `is for ${operandDType} operands, got ${other.dtype}`;
  return dropout && dropout.scale > maxDropoutScale
    ? `is for dropout that scales by at most ${maxDropoutScale}, got ${dropout.scale}`
    : null;
}

/**
 * The tile that a context chooses for a kernel that multiplies `operands`, and the reason why the kernel
 * cannot be made with the tile; null if it chooses no tile that suits the operands.
 * @throws InvalidArgumentError if the choice is not a tile.
 */
function choiceFor(
  role: TileRole,
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  { capabilities, tiles }: TileTarget,
): { readonly tile: Tile; readonly reason: string | null } | null {
  // In FP8, operands are rounded when they are copied to workgroup memory.
  if (problem.fp8 || !tiles) return null;
  const choice = tiles(problem, capabilities) ?? {};
  if (typeof choice !== 'object')
    throw new InvalidArgumentError(
      'tiles',
      `must return tiles by kernel or null, got ${describeValue(choice)}`,
    );
  const tile = choice[role];
  if (!tile) return null;
  if (!tile.backend)
    throw new InvalidArgumentError(
      `tiles.${role}`,
      `must be made by workgroupTile, subgroupTile or matrixTile, got ${describeValue(tile)}`,
    );
  if (unsuitedReason(tile, problem, operands)) return null;
  return { tile, reason: tile.unsupported(role, problem, capabilities) };
}

/**
 * The tile that a context chooses, if the kernel can be made with it.
 * @throws InvalidArgumentError if it cannot.
 */
export function chosenTile(
  role: TileRole,
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  target: TileTarget,
): Tile | null {
  const choice = choiceFor(role, problem, operands, target);
  if (choice?.reason) throw new InvalidArgumentError(`tiles.${role}`, choice.reason);
  return choice?.tile ?? null;
}

/** The reasons why the tiles that a context chooses for a problem cannot be used. */
export function choiceReasons(
  roles: readonly TileRole[],
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  target: TileTarget,
): string[] {
  return roles.flatMap(role => {
    const reason = choiceFor(role, problem, operands, target)?.reason;
    return reason ? [`tiles.${role} ${reason}`] : [];
  });
}
