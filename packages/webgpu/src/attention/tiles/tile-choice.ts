import { type AttentionProblem, describeValue, InvalidArgumentError, type OperandDesc } from '@tilewise/core';
import type { TileKind } from '../../codegen/tile-kind.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { SubgroupTileShape } from './subgroup/shape.ts';
import type { Tile, TileRole } from './tile.ts';

/**
 * Tiles of the large kernels of a problem. A kernel whose tile is missing, would round operands, or cannot
 * multiply in 8 bits takes the table's.
 */
export type TileChoice = { readonly [Role in TileRole]?: Tile };

/**
 * Which tiles a context takes for a problem; null for those of the table. Must give the same for the same
 * problem.
 */
export type TileSelector = (problem: AttentionProblem, capabilities: Capabilities) => TileChoice | null;

/**
 * The kinds of tiles that the table takes on some adapters only: `createContext` loads those that its adapter
 * needs.
 */
export interface LoadedTileKinds {
  readonly subgroup?: TileKind<SubgroupTileShape, Tile>;
  readonly adapterTiles?: AdapterTiles;
}

/** The tiles that the table takes on some adapters, null where the tile of every device is taken. */
export type AdapterTiles = (
  role: 'forward' | 'dq' | 'dkdv',
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  capabilities: Capabilities,
) => Tile | null;

/** Where kernels run, as far as it decides their tiles. */
export interface TileTarget {
  readonly capabilities: Capabilities;
  readonly tileKinds?: LoadedTileKinds;
  /** Tiles other than those of the table. */
  readonly tiles?: TileSelector | undefined;
}

/**
 * Why a tile does not take operands as they are stored, or would round probabilities to infinity; or null.
 */
export function unsuitedReason(
  { operandDType, maxDropoutScale }: Tile,
  { dropout }: AttentionProblem,
  operands: readonly OperandDesc[],
): string | null {
  const other = operandDType && operands.find(({ dtype }) => dtype !== operandDType);
  if (other) return `is for operands of ${operandDType}, got ${other.dtype}`;
  return dropout && dropout.scale > maxDropoutScale
    ? `is for dropout that multiplies what it keeps by at most ${maxDropoutScale}, got ${dropout.scale}`
    : null;
}

/**
 * The tile that a context chooses for a kernel that multiplies `operands`, and why the kernel cannot be made
 * on it; null where it chooses none that suits them.
 * @throws InvalidArgumentError for what is no tile.
 */
function choiceFor(
  role: TileRole,
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  { capabilities, tiles }: TileTarget,
): { readonly tile: Tile; readonly reason: string | null } | null {
  // In FP8 operands are rounded on their way through workgroup memory.
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
      `must be made by workgroupTile, subgroupTile or matrixTile, which bring its code, got ${describeValue(tile)}`,
    );
  if (unsuitedReason(tile, problem, operands)) return null;
  return { tile, reason: tile.unsupported(role, problem, capabilities) };
}

/**
 * The tile that a context chooses, if the kernel can be made on it.
 * @throws InvalidArgumentError when it cannot.
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

/** The reasons against the tiles that a context chooses for a problem. */
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
