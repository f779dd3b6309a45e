import type { BackwardInputs, SdpaBackwardOptions, SdpaOptions } from '../../attention/options/options.ts';
import type { GradientName } from '../../attention/problem/problem.ts';
import { checkProblem } from '../../attention/rules/check-problem.ts';
import type { SdpaGradients, SdpaResult } from '../../engine/engine.ts';
import { checkFunction } from '../../errors.ts';
import { checkHostTensor } from '../../tensor/checks/check-on-host.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { TensorEngine } from '../primitive-engine.ts';
import { hostPrimitives } from './host-primitives.ts';

/** Synchronous attention on host tensors. */
export interface HostAttention {
  /** Forward: computes o and lse, and the other results that `options.outputs` names. */
  sdpa(q: Tensor, k: Tensor, v: Tensor, options?: SdpaOptions<Tensor>): SdpaResult<Tensor>;
  /** Backward: computes the gradients that `options.gradients` names. */
  sdpaBackward<G extends GradientName = 'dq' | 'dk' | 'dv'>(
    inputs: BackwardInputs<Tensor>,
    options?: SdpaBackwardOptions<Tensor, G>,
  ): SdpaGradients<Tensor, G>;
}

/**
 * An engine built from functions that can run every valid problem. Its tensors are the caller's own: nothing
 * is copied or freed.
 */
export function hostEngine(
  name: string,
  description: string,
  { sdpa, sdpaBackward }: HostAttention,
): TensorEngine<Tensor> {
  return {
    name,
    description,
    checkSupport(problem) {
      checkProblem(problem);
      return { supported: true, reasons: [] };
    },
    upload: checked,
    download: async tensor => checked(tensor),
    release(tensor) {
      checkHostTensor('tensor', tensor);
    },
    primitives: hostPrimitives,
    batch(work) {
      checkFunction('work', work);
      work();
    },
    sdpa: async (q, k, v, options) => sdpa(q, k, v, options),
    sdpaBackward: async (inputs, options) => sdpaBackward(inputs, options),
  };
}

function checked(tensor: Tensor): Tensor {
  checkHostTensor('tensor', tensor);
  return tensor;
}
