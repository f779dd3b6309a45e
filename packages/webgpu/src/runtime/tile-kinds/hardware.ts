import { loadHardwareTiles } from '../../attention/tiles/defaults/hardware-tiles.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { DeviceTiles } from './device-tiles.ts';

/** The tiles of GPUs, with those of subgroup matrices if the device has any. */
export async function load(capabilities: Capabilities): Promise<DeviceTiles> {
  const hasMatrices = capabilities.subgroupMatrixConfigs.length > 0;
  const [attention, matrices, { gemvTiles }] = await Promise.all([
    loadHardwareTiles(capabilities),
    hasMatrices ? import('../../primitive/matmul/tiles/matrix/matrix-matmul-tiles.ts') : null,
    import('../../primitive/matmul/tiles/gemv-tiles.ts'),
  ]);
  return { ...attention, matmulTiles: gemvTiles(matrices?.matrixMatMulTile) };
}
