import type { Engine } from '../engine/engine.ts';
import { hostEngine } from '../engine/host-engine.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { typescriptKernels } from './matmul.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

/** The CPU as an engine: it runs every valid problem. Its tensors are host tensors; nothing is copied. */
export function cpuEngine(): Engine<Tensor> {
  const description = `tiled flash attention in ${typescriptKernels.description}, one thread`;
  return hostEngine('cpu', description, { sdpa, sdpaBackward });
}
