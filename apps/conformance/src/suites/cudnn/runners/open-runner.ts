import { openFrom } from '../../../engines/engines.ts';
import { hostRunner } from './host-runner.ts';
import type { Runner } from './runner.ts';

/** A runner, and a function that frees its device. */
export interface OpenRunner {
  readonly runner: Runner;
  close(): void;
}

const onHost = (runner: Runner): OpenRunner => ({ runner, close: () => {} });

// Loaded on demand: a run on the CPU needs no GPU.
const openers: Readonly<Record<string, () => Promise<OpenRunner>>> = {
  reference: async () => onHost(hostRunner((await import('@tilewise/core/reference')).referenceEngine())),
  cpu: async () => onHost(hostRunner((await import('@tilewise/core/cpu')).cpuEngine())),
  webgpu: async () => {
    const [{ openContext }, { webgpuRunner }] = await Promise.all([
      import('../../../engines/gpu-context.ts'),
      import('./webgpu-runner.ts'),
    ]);
    const context = await openContext();
    return { runner: webgpuRunner(context), close: () => context.destroy() };
  },
};

/** @throws SetupError if the engine cannot be opened on this machine. */
export function openRunner(engine: string): Promise<OpenRunner> {
  return openFrom(openers, engine);
}
