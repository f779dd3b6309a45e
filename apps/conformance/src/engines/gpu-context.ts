import { createContext, type GpuContext } from '@tilewise/webgpu';
import { matrixTiles } from '@tilewise/webgpu/matrix';
import { openGpu } from '@tilewise/webgpu-host';

/**
 * A context on this machine's adapter, or on the software adapter, with subgroup-matrix tiles if the adapter
 * supports them.
 * @throws Error when there is none.
 */
export async function openContext(): Promise<GpuContext> {
  const { adapter } = await openGpu();
  return createContext({ adapter, tiles: matrixTiles });
}
