import type { Tile } from '../tile.ts';
import type { unsupportedReason } from './limits.ts';
import { workgroupTileMemory } from './memory.ts';
import { workgroupRowReduction } from './row-reduction.ts';
import { workgroupBackend } from './workgroup-backend.ts';
import type { WorkgroupTile, WorkgroupTileSizes } from './workgroup-tile.ts';

/** The code of variants that few tiles in workgroup memory use. `workgroupTile` adds this code. */
type TileVariants = Partial<
  Pick<WorkgroupTile, 'arithmetic' | 'prefetch' | 'unrolling' | 'wholeChunks' | 'rowReduction'>
>;

/** A tile of the built-in table, which has sizes but no variants, and which every device can compute. */
export const plainWorkgroupTile = (sizes: WorkgroupTileSizes): Tile =>
  makeWorkgroupTile(sizes, {}, () => null);

/** Fills in default sizes, and adds the code of variants. */
export function completeTile(sizes: WorkgroupTileSizes, variants: TileVariants = {}): WorkgroupTile {
  const { tx, ty, rows = 4, cols = 1, headDimChunk, stagingDType = 'f32' } = sizes;
  return {
    ...{ arithmetic: null, prefetch: null, unrolling: null, rowReduction: workgroupRowReduction },
    ...{ tx, ty, rows, cols, headDimChunk, stagingDType, ...variants },
  };
}

/**
 * Makes a tile of sizes that break no rule; `unsupported` returns the reason why a device cannot compute the
 * tile.
 */
export function makeWorkgroupTile(
  shape: WorkgroupTileSizes,
  variants: TileVariants,
  unsupported: typeof unsupportedReason,
): Tile {
  const tile = completeTile(shape, variants);
  return {
    ...{ shape, grid: tile, backend: workgroupBackend(tile) },
    operandType: 'f32',
    operandDType: tile.stagingDType === 'f16' ? 'f16' : null,
    maxFusedChannels: 256,
    maxDropoutScale: tile.arithmetic?.weight.max ?? Infinity,
    workgroupMemory: role => workgroupTileMemory(tile, role),
    unsupported: (role, problem, capabilities) => unsupported(role, tile, problem, capabilities),
  };
}
