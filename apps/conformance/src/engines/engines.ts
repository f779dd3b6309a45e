import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { SetupError } from '../suite.ts';

/** An open engine. Its tensor type is its own, so callers use it through `run`. */
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

// Loaded on demand, because a run on the CPU needs no GPU, and a broken engine must not keep the others from
// running.
const openers: Readonly<Record<string, () => Promise<OpenTensorEngine>>> = {
  reference: async () => opened((await import('@tilewise/core/reference')).referenceEngine()),
  cpu: async () => opened((await import('@tilewise/core/cpu')).cpuEngine()),
  webgpu: async () => {
    const [{ openContext }, { webgpuEngine }] = await Promise.all([
      import('./gpu-context.ts'),
      import('@tilewise/webgpu'),
    ]);
    const context = await openContext();
    return opened(webgpuEngine(context), () => context.destroy());
  },
};

/** The values of `--engine`. */
export const engineNames: readonly string[] = Object.keys(openers);

/** @throws SetupError if the engine cannot be opened on this machine. */
export function openTensorEngine(name: string): Promise<OpenTensorEngine> {
  return openFrom(openers, name);
}

/** Opens one of several engines. @throws SetupError if the engine cannot be opened on this machine. */
export async function openFrom<E>(all: Readonly<Record<string, () => Promise<E>>>, name: string): Promise<E> {
  try {
    return await all[name]();
  } catch (error) {
    throw new SetupError(`--engine ${name}: ${error instanceof Error ? error.message : error}`);
  }
}
