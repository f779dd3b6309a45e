import type { Engine, TensorDesc } from '@tilewise/core';
import { SetupError } from '../../suite.ts';

/** An engine that is open. Its tensor type is its own, so it is used through `run`. */
export interface OpenEngine {
  run<R>(use: <T extends TensorDesc>(engine: Engine<T>) => R): R;
  close(): void;
}

function opened<T extends TensorDesc>(engine: Engine<T>, close: () => void = () => {}): OpenEngine {
  return { run: use => use(engine), close };
}

// Loaded on demand: a run on the CPU needs no GPU, and a broken engine does not keep the others from running.
const openers: Readonly<Record<string, () => Promise<OpenEngine>>> = {
  reference: async () => opened((await import('./exact-reference.ts')).exactReference()),
  cpu: async () => opened((await import('@tilewise/core/cpu')).cpuEngine()),
  webgpu: openWebGpu,
};

/** The values of `--engine`. */
export const engineNames: readonly string[] = Object.keys(openers);

/** @throws SetupError when the engine cannot be had on this machine. */
export async function openEngine(name: string): Promise<OpenEngine> {
  try {
    return await openers[name]();
  } catch (error) {
    throw new SetupError(`--engine ${name}: ${error instanceof Error ? error.message : error}`);
  }
}

async function openWebGpu(): Promise<OpenEngine> {
  const [{ openContext }, { webgpuEngine }] = await Promise.all([
    import('../../gpu-context.ts'),
    import('@tilewise/webgpu'),
  ]);
  const context = await openContext();
  return opened(webgpuEngine(context), () => context.destroy());
}
