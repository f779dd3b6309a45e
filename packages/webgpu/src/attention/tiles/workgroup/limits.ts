import type { AttentionProblem } from '@tilewise/core';
import { isCount } from '../../../codegen/tile-kind.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { brokenGridRule, memoryReason, type TileRole, tileSize } from '../tile.ts';
import { hasRoomForRows, resultVectors, workgroupTileMemory } from './memory.ts';
import type { WorkgroupTile, WorkgroupTileSizes } from './workgroup-tile.ts';

/**
 * The largest number of result vec4s that a lane can accumulate; these take all registers that devices have.
 */
const maxResultVectors = 64;

/** The rule that sizes break, or null. */
export function brokenSizesRule(sizes: WorkgroupTileSizes): string | null {
  const { tx, ty, headDimChunk, rows = 4, cols = 1, stagingDType = 'f32' } = sizes;
  if (![tx, ty, headDimChunk].every(isCount))
    return `must have whole numbers of lanes and a headDimChunk of at least 1, got ${tx} × ${ty} and ${headDimChunk}`;
  if (![4, 8].includes(rows) || ![1, 2].includes(cols))
    return `must have lanes of 4 or 8 rows and 1 or 2 vectors of keys, got ${rows} and ${cols}`;
  return ['f16', 'f32'].includes(stagingDType)
    ? null
    : `must have stagingDType f16 or f32, got ${stagingDType}`;
}

/** The reason why a device cannot compute a kernel of a problem with a tile, or null. */
export function unsupportedReason(
  role: TileRole,
  tile: WorkgroupTile,
  { Dqk, Dv }: AttentionProblem,
  capabilities: Capabilities,
): string | null {
  const { features } = capabilities;
  const { stagingDType, arithmetic, prefetch, rowReduction } = tile;
  const grid = brokenGridRule(tile);
  if (grid) return grid;
  if (stagingDType === 'f16' && !features.includes('shader-f16')) return 'needs the feature shader-f16';
  const unfit =
    arithmetic?.reason(role, tile) ?? prefetch?.reason(tile) ?? rowReduction.reason(role, tile, capabilities);
  if (unfit) return unfit;
  const { rows, cols } = tileSize(tile);
  if (role === 'dkdv' && rows !== cols) return 'must have as many queries as keys';
  const results = { forward: [Dv], decode: [Dv], dq: [Dqk], dkdv: [Dqk, Dv] }[role];
  const wide = results.find(D => !hasRoomForRows(tile, D));
  if (wide !== undefined) return `has no room for a row of ${wide} channels; use a larger headDimChunk`;
  const held = Math.max(...results.map(D => resultVectors(D, tile)));
  if (held > maxResultVectors)
    return `needs ${4 * held} accumulators per lane (max ${4 * maxResultVectors}); use more lanes or fewer rows`;
  return memoryReason(
    workgroupTileMemory(tile, role),
    capabilities,
    'use fewer lanes or a smaller headDimChunk',
  );
}
