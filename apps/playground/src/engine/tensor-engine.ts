import type { Engine, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** Which engine is wanted: a GPU where there is one (`auto`), or one of the two. */
export type EngineChoice = 'auto' | 'webgpu' | 'cpu';

/** An engine for whole graphs, with tensors that stay on it. */
export interface OpenedEngine {
  readonly kind: 'webgpu' | 'cpu';
  readonly engine: TensorEngine;
  /** What it runs on, in the engine's words. */
  readonly description: string;
  /** Why it is not a GPU, although one was asked for. */
  readonly instead?: string;
}

/** Opens an engine, in a page or in a worker. Where the GPU cannot be had it is the CPU, and `instead` says why. */
export async function openTensorEngine(choice: EngineChoice): Promise<OpenedEngine> {
  const gpu = choice === 'cpu' ? undefined : await openGpu();
  if (typeof gpu === 'object') return gpu;
  const { cpuEngine } = await import('@tilewise/core/cpu');
  const engine = cpuEngine() as unknown as TensorEngine;
  return { kind: 'cpu', engine, description: engine.description, instead: gpu };
}

/** The GPU, or why there is none. */
async function openGpu(): Promise<OpenedEngine | string> {
  if (!('gpu' in navigator)) return 'this browser has no WebGPU';
  try {
    const { createContext, webgpuEngine } = await import('@tilewise/webgpu');
    const engine: Engine<never> = webgpuEngine(await createContext()) as unknown as Engine<never>;
    if (!runsGraphs(engine)) return 'this version of the WebGPU engine runs attention alone';
    return { kind: 'webgpu', engine, description: engine.description };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function runsGraphs(engine: Engine<never>): engine is Engine<never> & TensorEngine<TensorDesc> {
  return 'primitives' in engine;
}
