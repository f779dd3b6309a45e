import { createContext, type GpuContext } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';

/** A context on the adapter of this machine, and the adapter in the driver's words. */
export async function openWebGpu(): Promise<{ readonly ctx: GpuContext; readonly adapter: string }> {
  const { adapter, description } = await openGpu();
  return { ctx: await createContext({ adapter }), adapter: description };
}
