import { type AttentionProblem, elementCount } from '@tilewise/core';
import { rowShape } from '@tilewise/core/engine';
import { guaranteedCapabilities } from '../../../device/capabilities/capabilities.ts';
import { type Tile, tileSize } from '../../tiles/tile.ts';
import { chosenTile, type TileTarget } from '../../tiles/tile-choice.ts';
import { fewQueries, forwardSizesFor, forwardTileFor, manyQueriesTile } from '../../tiles/tile-table.ts';
import { plainWorkgroupTile } from '../../tiles/workgroup/plain-tile.ts';
import type { WorkgroupTileSizes } from '../../tiles/workgroup/workgroup-tile.ts';
import { partialVectors } from './partials.ts';

/** How the forward pass of a problem is divided among workgroups. */
export interface ForwardShape {
  readonly tile: Tile;
  /**
   * The number of query heads whose rows are in one tile: 1, or all that share a key head and a value head.
   */
  readonly heads: number;
  /**
   * The number of parts that the keys are split into, one for each workgroup. More than one part needs a
   * merge.
   */
  readonly parts: number;
}

/** The forward kernel that runs a problem. */
export const forwardRole = ({ Sq }: AttentionProblem): 'forward' | 'decode' =>
  Sq > fewQueries ? 'forward' : 'decode';

/**
 * The number of workgroups that keeps a large GPU busy, and the smallest number of keys that one of them
 * should have.
 */
const manyGroups = 512;
const keysPerPart = 256;
/** The largest number of parts that can be merged quickly. */
const maxParts = 64;

/**
 * Few queries would leave most of a GPU idle. For them, the heads of a group share tiles, tiles have no more
 * rows than needed, and keys are split over workgroups until there are enough workgroups. FP8 does none of
 * this, because its P is rounded relative to the whole row.
 */
export function forwardShape(
  problem: AttentionProblem,
  target: TileTarget = { capabilities: guaranteedCapabilities },
): ForwardShape {
  const { B, Hq, Sq, Dv } = problem;
  if (problem.fp8) return { tile: forwardTileFor(Infinity, Dv), heads: 1, parts: 1 };
  // With more queries there are enough workgroups anyway, and the partial results would take too much memory.
  if (forwardRole(problem) === 'forward')
    return { tile: manyQueriesTile(problem, target), heads: 1, parts: 1 };
  const heads = sharingHeads(problem);
  const { q, k, v } = problem;
  const tile =
    chosenTile('decode', problem, [q, k, v], target) ??
    (target.tileKinds?.decodeTile ?? plainWorkgroupTile)(decodeSizes(problem), problem, target.capabilities);
  const groups = Math.ceil((Sq * heads) / tileSize(tile.grid).rows) * (Hq / heads) * B;
  if (groups === 0) return { tile, heads, parts: 1 };
  const wanted = Math.min(manyGroups / groups, keysPerQueryTile(problem, tile) / keysPerPart);
  return { tile, heads, parts: Math.max(1, Math.min(maxParts, Math.floor(wanted))) };
}

/** The sizes that the built-in table gives for a tile of few queries. */
export const decodeSizes = (problem: AttentionProblem): WorkgroupTileSizes =>
  forwardSizesFor(problem.Sq * sharingHeads(problem), problem.Dv);

/**
 * The largest number of keys that a tile of queries can see, given the number of keys and the diagonal band.
 */
function keysPerQueryTile({ Sq, Skv, band }: AttentionProblem, tile: Tile): number {
  if (band === null || band.left === null || band.right === null) return Skv;
  const { rows, cols } = tileSize(tile.grid);
  return Math.min(Skv, band.left + band.right + Math.min(Sq, rows) + cols);
}

/** The number of vec4s that the parts of a problem use in the workspace. */
export function workspaceVectors(problem: AttentionProblem, { parts }: ForwardShape): number {
  return parts === 1 ? 0 : elementCount(rowShape(problem)) * parts * partialVectors(problem.Dv);
}

/** The number of query heads that share both a key head and a value head. */
function sharingHeads({ Hq, Hk, Hv }: AttentionProblem): number {
  return greatestCommonDivisor(Hq / Hk, Hq / Hv);
}

/** Terminates for all numbers: a problem with Hk = 0 divides by 0 here, before `validate` refuses it. */
function greatestCommonDivisor(a: number, b: number): number {
  return b > 0 ? greatestCommonDivisor(b, a % b) : a;
}
