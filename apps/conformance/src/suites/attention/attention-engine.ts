import type { Engine, TensorDesc } from '@tilewise/core';
import { openTensorEngine } from '../../engines/engines.ts';

/** An open attention engine. Its tensor type is its own, so callers use it through `run`. */
export interface OpenEngine {
  run<R>(use: <T extends TensorDesc>(engine: Engine<T>) => R): R;
  close(): void;
}

/**
 * Opens an engine. The reference returns results that are not rounded.
 * @throws SetupError when the engine cannot be had on this machine.
 */
export async function openEngine(name: string): Promise<OpenEngine> {
  if (name !== 'reference') return openTensorEngine(name);
  const { exactReference } = await import('./exact-reference.ts');
  return { run: use => use(exactReference()), close: () => {} };
}
