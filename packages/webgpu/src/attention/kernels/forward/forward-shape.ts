import { type AttentionProblem, elementCount, rowShape } from '@tilewise/core';
import { guaranteedCapabilities } from '../../../device/capabilities/capabilities.ts';
import { type Tile, tileSize } from '../../tiles/tile.ts';
import { chosenTile, type TileTarget } from '../../tiles/tile-choice.ts';
import { fewQueries, forwardSizesFor, forwardTileFor, manyQueriesTile } from '../../tiles/tile-table.ts';
import { plainWorkgroupTile } from '../../tiles/workgroup/plain-tile.ts';
import type { WorkgroupTileSizes } from '../../tiles/workgroup/workgroup-tile.ts';
import { partialVectors } from './partials.ts';
import { sharingHeads } from './query-rows.ts';

/** How the forward pass of a problem is cut into workgroups. */
export interface ForwardShape {
  readonly tile: Tile;
  /** Query heads whose rows lie in one tile: 1, or all that share a key and a value head. */
  readonly heads: number;
  /** Parts of the keys that workgroups of their own work on; more than one need a merge. */
  readonly parts: number;
}

/** The forward kernel that runs a problem. */
export const forwardRole = ({ Sq }: AttentionProblem): 'forward' | 'decode' =>
  Sq > fewQueries ? 'forward' : 'decode';

/** Workgroups that keep a large GPU busy, and keys that one of them should have at least. */
const manyGroups = 512;
const keysPerPart = 256;
/** Parts that the merge still reads quickly. */
const maxParts = 64;

/**
 * Few queries leave most of a GPU idle: then the heads of a group share tiles, tiles have only as many rows
 * as there are, and keys are split over workgroups until there are enough of them. Not in FP8, whose P is
 * rounded when the whole row is known.
 */
export function forwardShape(
  problem: AttentionProblem,
  target: TileTarget = { capabilities: guaranteedCapabilities },
): ForwardShape {
  const { B, Hq, Sq, Dv } = problem;
  if (problem.fp8) return { tile: forwardTileFor(Infinity, Dv), heads: 1, parts: 1 };
  // More queries than few take workgroups enough, and memory for the parts that would be missed.
  if (forwardRole(problem) === 'forward')
    return { tile: manyQueriesTile(problem, target), heads: 1, parts: 1 };
  const heads = sharingHeads(problem);
  const { q, k, v } = problem;
  const tile = chosenTile('decode', problem, [q, k, v], target) ?? plainWorkgroupTile(decodeSizes(problem));
  const groups = Math.ceil((Sq * heads) / tileSize(tile.grid).rows) * (Hq / heads) * B;
  if (groups === 0) return { tile, heads, parts: 1 };
  const wanted = Math.min(manyGroups / groups, keysPerQueryTile(problem, tile) / keysPerPart);
  return { tile, heads, parts: Math.max(1, Math.min(maxParts, Math.floor(wanted))) };
}

/** The sizes that the table has for the tile of few queries. */
export const decodeSizes = (problem: AttentionProblem): WorkgroupTileSizes =>
  forwardSizesFor(problem.Sq * sharingHeads(problem), problem.Dv);

/** Keys that a tile of queries sees at most, by the number of keys and the diagonal band. */
function keysPerQueryTile({ Sq, Skv, band }: AttentionProblem, tile: Tile): number {
  if (band === null || band.left === null || band.right === null) return Skv;
  const { rows, cols } = tileSize(tile.grid);
  return Math.min(Skv, band.left + band.right + Math.min(Sq, rows) + cols);
}

/** vec4s that the parts of a problem take in the workspace. */
export function workspaceVectors(problem: AttentionProblem, { parts }: ForwardShape): number {
  return parts === 1 ? 0 : elementCount(rowShape(problem)) * parts * partialVectors(problem.Dv);
}
