import type { TensorEngine } from '@tilewise/core/primitive';
import { isSoftware } from './software-adapter.ts';

/** The requested engine: a GPU if there is one (`auto`), WebGPU on any adapter, or the CPU. */
export type EngineChoice = 'auto' | 'webgpu' | 'cpu';

/** Why a GPU was not used. */
export type Instead =
  | { readonly kind: 'software'; readonly adapter: string }
  | { readonly kind: 'error'; readonly message: string };

/** An engine for whole graphs, with tensors that stay on it. */
export interface OpenedEngine {
  readonly kind: 'webgpu' | 'cpu';
  readonly engine: TensorEngine;
  /** The engine's own description of its hardware. */
  readonly description: string;
  /** Why the engine is not a GPU although one was requested. */
  readonly instead?: Instead;
}

/**
 * Opens an engine, in a page or in a worker. If no GPU can be used, the engine is the CPU, and `instead`
 * gives the reason.
 */
export async function openTensorEngine(choice: EngineChoice): Promise<OpenedEngine> {
  const gpu = choice === 'cpu' ? undefined : await openGpu(choice);
  if (gpu && 'engine' in gpu) return gpu;
  const { cpuEngine } = await import('@tilewise/core/cpu');
  const engine: TensorEngine = cpuEngine();
  return { kind: 'cpu', engine, description: engine.description, instead: gpu };
}

/** The GPU, or why there is none. */
async function openGpu(choice: 'auto' | 'webgpu'): Promise<OpenedEngine | Instead> {
  try {
    const { createContext, webgpuEngine } = await import('@tilewise/webgpu');
    const ctx = await createContext();
    const { adapterInfo } = ctx.device;
    if (choice === 'auto' && isSoftware(adapterInfo)) {
      ctx.destroy();
      return { kind: 'software', adapter: adapterInfo.description || adapterInfo.architecture };
    }
    const engine: TensorEngine = webgpuEngine(ctx);
    return { kind: 'webgpu', engine, description: engine.description };
  } catch (error) {
    return { kind: 'error', message: error instanceof Error ? error.message : String(error) };
  }
}
