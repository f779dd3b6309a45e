import type { Engine, TensorDesc } from '@tilewise/core';
import { openTensorEngine } from '../../engines/engines.ts';

/** An engine of attention that is open. Its tensor type is its own, so it is used through `run`. */
export interface OpenEngine {
  run<R>(use: <T extends TensorDesc>(engine: Engine<T>) => R): R;
  close(): void;
}

/**
 * Opens an engine; the reference with results that are not rounded.
 * @throws SetupError when the engine cannot be had on this machine.
 */
export async function openEngine(name: string): Promise<OpenEngine> {
  if (name !== 'reference') return openTensorEngine(name);
  const { exactReference } = await import('./exact-reference.ts');
  return { run: use => use(exactReference()), close: () => {} };
}
