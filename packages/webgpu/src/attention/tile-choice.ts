import { type AttentionProblem, type DType, InvalidArgumentError, type OperandDesc } from '@tilewise/core';
import type { Capabilities } from '../device/capabilities.ts';
import { type Tile, tileCols, tileLanes, tileRows } from './tile.ts';
import { workgroupTileMemory } from './workgroup-tile.ts';

/** Tiles of the large kernels of a problem; where one is missing, that of the table. */
export interface TileChoice {
  /** Forward with more than 16 queries; fewer have tiles of their own. */
  readonly forward?: Tile;
  readonly dq?: Tile;
  readonly dkdv?: Tile;
}

/** Which tiles a context takes for a problem; null for those of the table. Must give the same for the same problem. */
export type ChooseTiles = (problem: AttentionProblem, capabilities: Capabilities) => TileChoice | null;

/** Head size up to which lanes, or subgroups, keep whole rows. */
export const maxChannelsOfKeptRows = 128;

/** Invocations that WebGPU guarantees a workgroup. */
const maxLanes = 256;

/** Why kernels of a problem cannot be made on a tile, or nothing. */
export function tileReason(
  role: keyof TileChoice,
  tile: Tile,
  { Dqk, Dv }: AttentionProblem,
  capabilities: Capabilities,
): string | null {
  const { subgroupMinSize, maxComputeWorkgroupStorageSize: room } = capabilities;
  if (tileLanes(tile) > maxLanes) return `must have at most ${maxLanes} lanes, got ${tileLanes(tile)}`;
  if (tile.through === 'subgroup' || tile.through === 'matrix') {
    const own = role === 'dkdv' ? 'keys' : 'queries';
    if (tile.own !== own) return `must keep ${own}, got ${tile.own}`;
    if (Math.max(Dqk, Dv) > maxChannelsOfKeptRows)
      return `must go through workgroup memory for head sizes above ${maxChannelsOfKeptRows}`;
  }
  if (tile.through === 'subgroup') {
    return subgroupMinSize < tile.group
      ? `needs subgroups of at least ${tile.group} lanes, the device's have ${subgroupMinSize} or more`
      : null;
  }
  if (tile.through === 'matrix') return tile.reason(capabilities);
  if (tile.pool === 'f16' && !capabilities.features.includes('shader-f16'))
    return 'needs the feature shader-f16';
  if (role === 'dkdv' && tileRows(tile) !== tileCols(tile)) return 'must have as many queries as keys';
  const bytes = workgroupTileMemory(tile);
  return bytes > room ? `takes ${bytes} bytes of workgroup memory, the device has ${room}` : null;
}

/** What operands must be stored in to be computed on a tile, if in anything: on their way they are rounded to it. */
export const operandsOf = (tile: Tile): DType | null =>
  tile.through === 'matrix'
    ? tile.component
    : tile.through !== 'subgroup' && tile.pool === 'f16'
      ? 'f16'
      : null;

/**
 * The tile that was chosen for a kernel that multiplies `operands`; null where there is none for their dtypes.
 * @throws InvalidArgumentError when the kernel cannot be made on it.
 */
export function chosenTile(
  role: keyof TileChoice,
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  capabilities: Capabilities,
  choose: ChooseTiles | undefined,
): Tile | null {
  // In FP8 what is multiplied is rounded on its way through workgroup memory.
  const tile = problem.fp8 ? null : choose?.(problem, capabilities)?.[role];
  if (!tile) return null;
  const dtype = operandsOf(tile);
  if (dtype && operands.some(operand => operand.dtype !== dtype)) return null;
  const reason = tileReason(role, tile, problem, capabilities);
  if (reason) throw new InvalidArgumentError(`tiles.${role}`, reason);
  return tile;
}
