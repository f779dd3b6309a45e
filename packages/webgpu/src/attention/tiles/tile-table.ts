import {
  type AttentionProblem,
  type BackwardProblem,
  type OperandDesc,
  UnsupportedError,
} from '@tilewise/core';
import { broadcastGroup } from '../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { SubgroupTileShape } from './subgroup/shape.ts';
import { maxStationaryChannels, type Stationary, stationaryOf, type Tile } from './tile.ts';
import { chosenTile, type TileTarget } from './tile-choice.ts';
import { plainWorkgroupTile } from './workgroup/plain-tile.ts';
import type { WorkgroupTileSizes } from './workgroup/workgroup-tile.ts';

/**
 * 32 × 32 scores on 64 lanes. Fits into the 16 KiB of workgroup memory that WebGPU guarantees, at every head
 * size.
 */
export const defaultSizes: WorkgroupTileSizes = { tx: 8, ty: 8, headDimChunk: 8 };
export const defaultTile: Tile = /* @__PURE__ */ plainWorkgroupTile(defaultSizes);

/**
 * The tiles of forward. The first that has room for all rows of a problem (the queries of all heads that
 * share tiles) and for its Dv is used: few rows get few lanes but many keys; a large Dv is spread over more
 * lanes, so that each has fewer accumulators.
 */
export const forwardTiles: readonly {
  readonly upTo: { readonly rows: number; readonly Dv: number };
  readonly sizes: WorkgroupTileSizes;
}[] = [
  { upTo: { rows: 4, Dv: 512 }, sizes: { tx: 32, ty: 1, headDimChunk: 3 } },
  { upTo: { rows: 8, Dv: 256 }, sizes: { tx: 16, ty: 2, headDimChunk: 4 } },
  { upTo: { rows: 16, Dv: 512 }, sizes: { tx: 16, ty: 4, headDimChunk: 4 } },
  { upTo: { rows: Infinity, Dv: 256 }, sizes: defaultSizes },
  { upTo: { rows: Infinity, Dv: 512 }, sizes: { tx: 16, ty: 4, headDimChunk: 4 } },
];

/** The sizes of the first forward tile with room for this many rows and channels. */
export const forwardSizesFor = (rows: number, Dv: number): WorkgroupTileSizes =>
  forwardTiles.find(({ upTo }) => rows <= upTo.rows && Dv <= upTo.Dv)?.sizes ?? defaultSizes;

export const forwardTileFor = (rows: number, Dv: number): Tile =>
  plainWorkgroupTile(forwardSizesFor(rows, Dv));

/**
 * The number of queries per head up to which the heads of a group share a forward tile, and keys are split.
 */
export const fewQueries = 16;

/** The number of lanes of a subgroup tile. */
const subgroupTileLanes = 8;

/**
 * The head size up to which lanes of a subgroup tile hold eight rows: wider rows do not fit into the cache
 * together with their sums.
 */
const maxChannelsOfEightRows = 64;

/** The head size up to which kernels on subgroup tiles compile faster on lavapipe than others. */
const maxQuickChannels = 32;

/**
 * The number of scores from which a problem is worth a kernel that takes longer to compile: a kernel on
 * subgroup tiles with larger heads, and one with eight rows per lane. On lavapipe, eight rows take 2.8 times
 * as long to compile as four, and compute up to 7 % faster with 2^18 to 2^20 scores and up to 23 % faster
 * with 2^23.
 */
const scoresWorth = { compiling: 2 ** 17, eightRows: 2 ** 21 };

/**
 * The subgroup tile that is fastest for a problem on an adapter; null if tiles in workgroup memory are
 * faster.
 */
export function subgroupShapeFor(
  stationary: Stationary,
  problem: AttentionProblem,
  capabilities: Capabilities,
): SubgroupTileShape | null {
  const group = broadcastGroup(capabilities);
  const { B, Hq, Sq, Skv, Dqk, Dv, fp8 } = problem;
  const channels = Math.max(Dqk, Dv);
  if (!group || fp8 || channels > maxStationaryChannels) return null;
  const scores = B * Hq * Sq * Skv;
  // Forward computes few queries on tiles in workgroup memory. Backward must sum scores in the same order;
  // otherwise large scores differ from those of forward in their last bits.
  const isQuick = group === 8 && channels <= maxQuickChannels && Sq > fewQueries;
  if (!isQuick && scores < scoresWorth.compiling) return null;
  const isWide = group < 8 || channels > maxChannelsOfEightRows;
  const rows = isWide || scores < scoresWorth.eightRows ? 4 : 8;
  return { kind: 'subgroup', stationary, lanes: subgroupTileLanes, group, rows };
}

/** @throws UnsupportedError if the tile kind that the table uses on an adapter was not loaded. */
function subgroupTileFor(
  stationary: Stationary,
  problem: AttentionProblem,
  { capabilities, tileKinds }: TileTarget,
): Tile | null {
  const shape = subgroupShapeFor(stationary, problem, capabilities);
  if (!shape) return null;
  if (!tileKinds?.subgroup)
    throw new UnsupportedError('webgpu', [
      `the tile kind subgroup, which ${capabilities.adapter} needs, was not loaded: make the context with createContext`,
    ]);
  return tileKinds.subgroup.tile(shape);
}

/** The tile that a context chooses, or that the adapter has instead of the usual one. */
const ownTile = (
  role: 'forward' | 'dq' | 'dkdv',
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  target: TileTarget,
): Tile | null =>
  chosenTile(role, problem, operands, target) ??
  subgroupTileFor(stationaryOf(role), problem, target) ??
  target.tileKinds?.adapterTiles?.(role, problem, operands, target.capabilities) ??
  null;

/** The tile of forward for more than a few queries. */
export const manyQueriesTile = (problem: AttentionProblem, target: TileTarget): Tile =>
  ownTile('forward', problem, [problem.q, problem.k, problem.v], target) ??
  forwardTileFor(problem.Sq, problem.Dv);

/** The tiles of dQ and of dK/dV. */
export type BackwardTiles = Readonly<Record<'dq' | 'dkdv', Tile>>;

export function backwardTiles({ forward, dO }: BackwardProblem, target: TileTarget): BackwardTiles {
  const operands = [forward.q, forward.k, forward.v, dO];
  const tile = (role: 'dq' | 'dkdv'): Tile => ownTile(role, forward, operands, target) ?? defaultTile;
  return { dq: tile('dq'), dkdv: tile('dkdv') };
}
