import type { AttentionProblem, BackwardProblem } from '@tilewise/core';
import type { KernelTools } from '../../api/tools.ts';
import type { BindingBudget } from '../../codegen/binding-pressure.ts';
import { broadcastGroup } from '../../device/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities.ts';
import type { Segments } from '../layout/segments.ts';
import { keptRows, type PlainTile, type SubgroupTile, type Tile, type WorkgroupTileSizes } from './tile.ts';
import { chosenTile, maxChannelsOfKeptRows, type TileTarget } from './tile-choice.ts';

/** 32 × 32 scores on 64 lanes: fits the 16 KiB of workgroup memory that WebGPU guarantees, at every head size. */
export const defaultTile: PlainTile = { tx: 8, ty: 8, depth: 8 };

/**
 * Tiles of forward, the first that has room for all rows of a problem (queries, of all heads that share tiles) and its Dv:
 * few rows get few lanes but many keys; a large Dv lies on more lanes, so that each has fewer accumulators.
 */
export const forwardTiles: readonly {
  readonly upTo: { readonly rows: number; readonly Dv: number };
  readonly tile: WorkgroupTileSizes;
}[] = [
  { upTo: { rows: 4, Dv: 512 }, tile: { tx: 32, ty: 1, depth: 4 } },
  { upTo: { rows: 8, Dv: 256 }, tile: { tx: 16, ty: 2, depth: 8 } },
  { upTo: { rows: 16, Dv: 512 }, tile: { tx: 16, ty: 4, depth: 6 } },
  { upTo: { rows: Infinity, Dv: 256 }, tile: defaultTile },
  { upTo: { rows: Infinity, Dv: 512 }, tile: { tx: 16, ty: 4, depth: 6 } },
];

/** Of a tile of a subgroup. */
const subgroupTileLanes = 8;

/** Head size up to which its lanes keep eight rows: wider ones do not stay in the cache next to their sums. */
const maxChannelsOfEightRows = 64;

/** Scores from which on a problem repays that such kernels take longer to compile. */
const scoresWorthCompiling = 2 ** 17;

/** The tile of an adapter whose lanes keep queries, or keys; null where tiles go through workgroup memory. */
export function subgroupTile(
  own: SubgroupTile['own'],
  problem: AttentionProblem,
  capabilities: Capabilities,
): SubgroupTile | null {
  const group = broadcastGroup(capabilities);
  const { B, Hq, Sq, Skv, Dqk, Dv, fp8 } = problem;
  const channels = Math.max(Dqk, Dv);
  if (!group || fp8 || channels > maxChannelsOfKeptRows) return null;
  if (B * Hq * Sq * Skv < scoresWorthCompiling) return null;
  const rows = group === 8 && channels <= maxChannelsOfEightRows ? 8 : 4;
  return { through: 'subgroup', own, lanes: subgroupTileLanes, group, rows };
}

/** The tile of forward for many queries, if not the default one. */
export const manyQueriesTile = (problem: AttentionProblem, target: TileTarget): Tile | null =>
  chosenTile('forward', problem, [problem.q, problem.k, problem.v], target) ??
  subgroupTile('queries', problem, target.capabilities);

/** The tiles of the kernels of backward. */
export interface BackwardTiles {
  readonly dq: Tile;
  readonly dkdv: Tile;
  /** Of all that sums something else than rows of operands up. */
  readonly others: PlainTile;
}

export function backwardTiles({ forward, dO }: BackwardProblem, target: TileTarget): BackwardTiles {
  const operands = [forward.q, forward.k, forward.v, dO];
  const tile = (role: 'dq' | 'dkdv', own: 'queries' | 'keys'): Tile =>
    chosenTile(role, forward, operands, target) ??
    subgroupTile(own, forward, target.capabilities) ??
    defaultTile;
  return { dq: tile('dq', 'queries'), dkdv: tile('dkdv', 'keys'), others: defaultTile };
}

/** How kernels of one problem are made. */
export interface KernelConfig {
  /** Tensors that do not start at a multiple of four elements: they are moved element by element. */
  readonly unaligned: ReadonlySet<string>;
  readonly tools: KernelTools;
  /** What decides which small tensors crowded kernels do not bind. */
  readonly bindingBudget: BindingBudget;
  /** Operands to read in segments. Default: none. */
  readonly segments?: Segments;
}

/** The same for kernels on tiles that may be chosen. */
export interface TileConfig extends KernelConfig {
  readonly tile: Tile;
}

/** The same for kernels that pass something through workgroup memory themselves. */
export interface WorkgroupTileConfig extends KernelConfig {
  readonly tile: PlainTile;
}

/** Channels of K and V together up to which one kernel holds the accumulators of both dK and dV in registers. */
export function maxChannelsForFusedKeyGradients(tile: Tile): number {
  if (tile.through === 'matrix') return 128;
  return tile.through === 'subgroup' && (tile.group === 4 || keptRows(tile) === 8) ? 128 : 256;
}
