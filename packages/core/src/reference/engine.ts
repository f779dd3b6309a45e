import { hostEngine } from '../primitive/host/host-engine.ts';
import type { TensorEngine } from '../primitive/primitive-engine.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { sdpa, sdpaBackward } from './sdpa.ts';

/**
 * The reference as an engine. It runs every valid problem, slowly. Its tensors are host tensors; nothing is
 * copied.
 */
export function referenceEngine(): TensorEngine<Tensor> {
  return hostEngine('reference', 'float64, O(S²), in TypeScript', { sdpa, sdpaBackward });
}
