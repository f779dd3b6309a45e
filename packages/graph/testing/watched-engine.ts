import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';

/** A CPU engine that lists the primitives that it prepares. */
export function watchedEngine(): { readonly engine: TensorEngine<Tensor>; readonly kinds: string[] } {
  const engine = cpuEngine();
  const kinds: string[] = [];
  const primitives = {
    ...engine.primitives,
    prepare: (...call: Parameters<typeof engine.primitives.prepare>) => {
      kinds.push(call[0].kind);
      return engine.primitives.prepare(...call);
    },
  };
  return { engine: { ...engine, primitives }, kinds };
}
