import type { AttentionProblem } from '@tilewise/core';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import type { Tile } from '../../tiles/tile.ts';
import { defaultTile } from '../../tiles/tile-table.ts';

/**
 * The tile of sums over scores: that of dQ, if the device has room for its operands and for the `bytes` of
 * workgroup memory that the sums need.
 */
export function sumTile(
  dq: Tile,
  forward: AttentionProblem,
  { maxComputeWorkgroupStorageSize: available }: Capabilities,
  bytes: (tile: Tile) => number,
): Tile {
  const fits = dq.workgroupMemory('dq', forward) + bytes(dq) <= available;
  return fits && dq.shape.kind !== 'matrix' ? dq : defaultTile;
}
