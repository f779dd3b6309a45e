import type { Engine } from '../engine/engine.ts';
import { hostEngine } from '../engine/host-engine.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { bestVariant } from './kernels/host-kernels.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

/** The CPU as an engine: it runs every valid problem. Its tensors are host tensors; nothing is copied. */
export function cpuEngine(): Engine<Tensor> {
  const description = `tiled flash attention in ${bestVariant()}, one thread`;
  return hostEngine('cpu', description, { sdpa, sdpaBackward });
}
