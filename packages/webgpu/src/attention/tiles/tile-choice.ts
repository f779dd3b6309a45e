import { type AttentionProblem, type DType, InvalidArgumentError, type OperandDesc } from '@tilewise/core';
import type { Capabilities } from '../../device/capabilities.ts';
import {
  keptRows,
  laneGrid,
  type SubgroupTile,
  type Tile,
  tileCols,
  tileLanes,
  tileRows,
  type WorkgroupTile,
} from './tile.ts';
import { hasRoomForRows, resultVectors, workgroupTileMemory } from './workgroup/memory.ts';

/** Tiles of the large kernels of a problem; that of the table where one is missing, or would round operands, or is for no 8-bit arithmetic. */
export interface TileChoice {
  /** Forward with more than 16 queries. */
  readonly forward?: Tile;
  /** Forward with at most 16, through workgroup memory; its rows are queries of all heads that share a key and a value head. */
  readonly decode?: Tile;
  readonly dq?: Tile;
  readonly dkdv?: Tile;
}

/** Where kernels run, as far as it decides their tiles. */
export interface TileTarget {
  readonly capabilities: Capabilities;
  /** Tiles other than those of the table. */
  readonly tiles?: ChooseTiles | undefined;
}

/** Which tiles a context takes for a problem; null for those of the table. Must give the same for the same problem. */
export type ChooseTiles = (problem: AttentionProblem, capabilities: Capabilities) => TileChoice | null;

/** Head size up to which lanes, or subgroups, keep whole rows. */
export const maxChannelsOfKeptRows = 128;

/** Invocations that WebGPU guarantees a workgroup. */
const maxLanes = 256;

/** vec4s of results that a lane of a tile through workgroup memory accumulates at most: all the registers that devices have. */
const maxResultVectors = 64;

const isCount = (n: number): boolean => Number.isInteger(n) && n > 0;

/** Why kernels of a problem cannot be made on a tile, or nothing. */
export function tileReason(
  role: keyof TileChoice,
  tile: Tile,
  problem: AttentionProblem,
  capabilities: Capabilities,
): string | null {
  const lanes = tileLanes(tile);
  if (!isCount(lanes) || lanes > maxLanes) return `must have 1 to ${maxLanes} lanes, got ${lanes}`;
  if (tile.through === 'subgroup' || tile.through === 'matrix') {
    if (role === 'decode') return 'must go through workgroup memory for few queries';
    const own = role === 'dkdv' ? 'keys' : 'queries';
    if (tile.own !== own) return `must keep ${own}, got ${tile.own}`;
    if (Math.max(problem.Dqk, problem.Dv) > maxChannelsOfKeptRows)
      return `must go through workgroup memory for head sizes above ${maxChannelsOfKeptRows}`;
    return tile.through === 'matrix'
      ? tile.reason(role, problem, capabilities)
      : subgroupReason(tile, capabilities);
  }
  return workgroupReason(role, tile, problem, capabilities);
}

function subgroupReason(tile: SubgroupTile, { subgroupMinSize }: Capabilities): string | null {
  const { lanes, group } = tile;
  const rows = keptRows(tile);
  if (rows !== 4 && (rows !== 8 || group !== 8))
    return `must have lanes of 4 rows, or of 8 in groups of 8, got ${rows} in groups of ${group}`;
  if (lanes % group !== 0) return `must have lanes in multiples of its group of ${group}, got ${lanes}`;
  return subgroupMinSize < group
    ? `needs subgroups of at least ${group} lanes, the device's have ${subgroupMinSize} or more`
    : null;
}

function workgroupReason(
  role: keyof TileChoice,
  tile: WorkgroupTile,
  { Dqk, Dv }: AttentionProblem,
  capabilities: Capabilities,
): string | null {
  const { features, maxComputeWorkgroupStorageSize } = capabilities;
  const { tx, ty, depth, pool, variants = {} } = tile;
  // Types say so, too; but not to who writes JavaScript.
  const named = ['arithmetic', 'prefetch', 'statistics'].find(name => name in tile);
  if (named) return `must be made by workgroupTile of @tilewise/webgpu/tiles, which brings ${named}`;
  const { rows, cols } = laneGrid(tile);
  if (![tx, ty, depth].every(isCount))
    return `must have whole numbers of lanes and depth, got ${tx} × ${ty} and ${depth}`;
  if (![4, 8].includes(rows) || ![1, 2].includes(cols))
    return `must have lanes of 4 or 8 rows and 1 or 2 vectors of keys, got ${rows} and ${cols}`;
  if (pool === 'f16' && !features.includes('shader-f16')) return 'needs the feature shader-f16';
  const { arithmetic, prefetch, statistics } = variants;
  const unfit =
    arithmetic?.reason(role, tile) ?? prefetch?.reason(tile) ?? statistics?.reason(role, tile, capabilities);
  if (unfit) return unfit;
  if (role === 'dkdv' && tileRows(tile) !== tileCols(tile)) return 'must have as many queries as keys';
  const results = { forward: [Dv], decode: [Dv], dq: [Dqk], dkdv: [Dqk, Dv] }[role];
  const wide = results.find(D => !hasRoomForRows(tile, D));
  if (wide !== undefined) return `has no room for a row of ${wide} channels: it takes more depth`;
  const held = Math.max(...results.map(D => resultVectors(D, tile)));
  if (held > maxResultVectors)
    return `has ${4 * held} numbers of a result per lane, at most ${4 * maxResultVectors} are: it takes more lanes or fewer rows`;
  const bytes = workgroupTileMemory(tile, role);
  return bytes > maxComputeWorkgroupStorageSize
    ? `takes ${bytes} bytes of workgroup memory, the device has ${maxComputeWorkgroupStorageSize}`
    : null;
}

/** What operands must be stored in to be computed on a tile, if in anything: on their way they are rounded to it. */
export const operandsOf = (tile: Tile): DType | null =>
  tile.through === 'matrix'
    ? tile.component
    : tile.through !== 'subgroup' && tile.pool === 'f16'
      ? 'f16'
      : null;

/**
 * Factor of what dropout keeps up to which probabilities stay far from the largest f16, for tiles that round them to it. Those of matrices
 * are at most e⁸ where maxima lag behind, others at most 1.
 */
const maxDropoutScale = (tile: Tile): number => {
  if (tile.through === 'matrix') return tile.component === 'f16' ? 16 : Infinity;
  return (tile.through !== 'subgroup' && tile.variants?.arithmetic?.weight.max) || Infinity;
};

/** Why a tile does not take operands as they are stored, or would round probabilities to infinity; or nothing. */
export function unsuitedReason(
  tile: Tile,
  { dropout }: AttentionProblem,
  operands: readonly OperandDesc[],
): string | null {
  const dtype = operandsOf(tile);
  const other = dtype && operands.find(operand => operand.dtype !== dtype);
  if (other) return `is for operands of ${dtype}, got ${other.dtype}`;
  const scale = maxDropoutScale(tile);
  return dropout && dropout.scale > scale
    ? `is for dropout that multiplies what it keeps by at most ${scale}, got ${dropout.scale}`
    : null;
}

/** The tile that a context chooses for a kernel that multiplies `operands`; null where there is none that suits them. */
function choiceFor(
  role: keyof TileChoice,
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  { capabilities, tiles }: TileTarget,
): Tile | null {
  // In FP8 what is multiplied is rounded on its way through workgroup memory.
  const tile = problem.fp8 ? null : tiles?.(problem, capabilities)?.[role];
  return tile && !unsuitedReason(tile, problem, operands) ? tile : null;
}

/**
 * The same, if the kernel can be made on it.
 * @throws InvalidArgumentError when it cannot.
 */
export function chosenTile(
  role: keyof TileChoice,
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  target: TileTarget,
): Tile | null {
  const tile = choiceFor(role, problem, operands, target);
  const reason = tile && tileReason(role, tile, problem, target.capabilities);
  if (reason) throw new InvalidArgumentError(`tiles.${role}`, reason);
  return tile;
}

/** What speaks against the tiles that a context chooses for a problem. */
export function choiceReasons(
  roles: readonly (keyof TileChoice)[],
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  target: TileTarget,
): string[] {
  return roles.flatMap(role => {
    const tile = choiceFor(role, problem, operands, target);
    const reason = tile && tileReason(role, tile, problem, target.capabilities);
    return reason ? [`tiles.${role} ${reason}`] : [];
  });
}
