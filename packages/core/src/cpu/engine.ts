import type { Engine } from '../engine.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { typescriptKernels } from './matmul.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

/** The CPU as an engine: it runs every valid problem. Its tensors are host tensors; nothing is copied. */
export function cpuEngine(): Engine<Tensor> {
  return {
    name: 'cpu',
    description: `tiled flash attention in ${typescriptKernels.description}, one thread`,
    checkSupport: () => ({ supported: true, reasons: [] }),
    upload: tensor => tensor,
    download: async tensor => tensor,
    release: () => {},
    sdpa: async (q, k, v, options) => sdpa(q, k, v, options),
    sdpaBackward: async (inputs, options) => sdpaBackward(inputs, options),
  };
}
