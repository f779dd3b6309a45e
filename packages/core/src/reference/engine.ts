import type { Engine } from '../engine.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

/** The reference as an engine: it runs every valid problem, slowly. Its tensors are host tensors; nothing is copied. */
export function referenceEngine(): Engine<Tensor> {
  return {
    name: 'reference',
    description: 'float64, O(S²), in TypeScript',
    checkSupport: () => ({ supported: true, reasons: [] }),
    upload: tensor => tensor,
    download: async tensor => tensor,
    release: () => {},
    sdpa: async (q, k, v, options) => sdpa(q, k, v, options),
    sdpaBackward: async (inputs, options) => sdpaBackward(inputs, options),
  };
}
