import { normaliseBackwardOnHost, normaliseOnHost } from '../attention/call/normalise-on-host.ts';
import type { BackwardInputs, SdpaBackwardOptions, SdpaOptions } from '../attention/options/options.ts';
import type { GradientName } from '../attention/problem/problem.ts';
import type { SdpaGradients, SdpaResult } from '../engine/engine.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type BackwardResults, backward } from './attention/backward/backward.ts';
import { forward } from './attention/forward/forward.ts';
import { bestVariant, withKernels } from './kernels/host-kernels.ts';

/**
 * Attention on the CPU that never stores the Sq×Skv matrix: it needs O((Sq + Skv)·D) memory besides the
 * operands and results. Storage of any float dtype is read as f32, and everything is computed in f32.
 *
 * @param q (B, Hq, Sq, Dqk) of any float dtype and strides; packed or ragged (T, Hq, Dqk).
 * @param k (B, Hk, Skv, Dqk), packed or ragged (T, Hk, Dqk), or paged (blocks, Hk, pageSize, Dqk).
 * @param v (B, Hv, Skv, Dv) likewise.
 * @returns the same results as the reference: o (B, Hq, Sq, Dv), packed or ragged (T, Hq, Dv), in `outDType`
 * (default: that of q); f32 lse and, if requested, max and sumExp (Hq, T) when q is packed by cuSeqLensQ,
 * else (B, Hq, Sq); u8 dropoutMask (B, Hq, Sq, Skv). All contiguous.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the
 * rule.
 */
export function sdpa(q: Tensor, k: Tensor, v: Tensor, options: SdpaOptions<Tensor> = {}): SdpaResult<Tensor> {
  const { problem, operands } = normaliseOnHost({ q, k, v }, options);
  return withKernels(bestVariant(), kernels => forward(problem, operands, { kernels }));
}

/**
 * Gradients of attention on the CPU, with the memory use of `sdpa`. Only the requested gradients are
 * computed. Two calls with the same arguments give the same bits.
 *
 * @param inputs the forward inputs and results, dO (shaped like o), and dLse (shaped like lse, default 0).
 * @param options the options of the forward call, and the wanted `gradients`.
 * @returns the same results as the reference: dq, dk, dv in shape and dtype of q, k, v; dbias in those of the
 * bias; f32 (Hq) dsink and dAlibi. If the score mod loads floats, `dCaptures` has the gradient of each such
 * tensor.
 * @throws as `sdpa`; paged k or v have no gradient.
 */
export function sdpaBackward<G extends GradientName = 'dq' | 'dk' | 'dv'>(
  inputs: BackwardInputs<Tensor>,
  options: SdpaBackwardOptions<Tensor, G> = {},
): SdpaGradients<Tensor, G> {
  const { problem, operands } = normaliseBackwardOnHost(inputs, options);
  return gradientsOf(withKernels(bestVariant(), kernels => backward(problem, operands, { kernels })));
}

/**
 * The results of backward in the form that the caller gets. They contain every requested gradient, as G says.
 */
export function gradientsOf<G extends GradientName>({
  gradients,
  dCaptures,
}: BackwardResults): SdpaGradients<Tensor, G> {
  const asked = gradients as SdpaGradients<Tensor, G>;
  return dCaptures ? { ...asked, dCaptures } : asked;
}
