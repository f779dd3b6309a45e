import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { SetupError } from '../../../suite.ts';

/** An engine of graphs that is open. Its tensor type is its own, so it is used through `run`. */
export interface OpenTensorEngine {
  run<R>(use: <T extends TensorDesc>(engine: TensorEngine<T>) => R): R;
  close(): void;
}

function opened<T extends TensorDesc>(
  engine: TensorEngine<T>,
  close: () => void = () => {},
): OpenTensorEngine {
  return { run: use => use(engine), close };
}

// Loaded on demand: a run on the CPU needs no GPU.
const openers: Readonly<Record<string, () => Promise<OpenTensorEngine>>> = {
  cpu: async () => opened((await import('@tilewise/core/cpu')).cpuEngine()),
  reference: async () => opened((await import('@tilewise/core/reference')).referenceEngine()),
  webgpu: async () => {
    const { openContext } = await import('../../../gpu-context.ts');
    const { webgpuEngine } = await import('@tilewise/webgpu');
    const context = await openContext();
    return opened(webgpuEngine(context), () => context.destroy());
  },
};

/** The values of `--engine`. */
export const tensorEngineNames: readonly string[] = Object.keys(openers);

/** @throws SetupError when the engine cannot be had on this machine. */
export async function openTensorEngine(name: string): Promise<OpenTensorEngine> {
  try {
    return await openers[name]();
  } catch (error) {
    throw new SetupError(`--engine ${name}: ${error instanceof Error ? error.message : error}`);
  }
}
