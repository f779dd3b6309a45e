import { normaliseBackwardOnHost, normaliseOnHost } from '../attention/call/normalise-on-host.ts';
import type { BackwardInputs, SdpaBackwardOptions, SdpaOptions } from '../attention/options/options.ts';
import type { GradientName } from '../attention/problem/problem.ts';
import type { SdpaGradients, SdpaResult } from '../engine/engine.ts';
import type { DType } from '../tensor/dtype/dtype.ts';
import { Tensor } from '../tensor/tensor.ts';
import { backward } from './backward.ts';
import type { Float64Tensor } from './float64-tensor.ts';
import { forward } from './forward.ts';
import { forwardResults } from './forward-results.ts';

/**
 * Attention in float64 (with the formulas of `sdpaFloat64`), each result rounded once.
 *
 * @param q (B, Hq, Sq, Dqk) of any float dtype and strides; packed or ragged (T, Hq, Dqk).
 * @param k (B, Hk, Skv, Dqk), packed or ragged (T, Hk, Dqk), or paged (blocks, Hk, pageSize, Dqk).
 * @param v (B, Hv, Skv, Dv) likewise.
 * @returns o (B, Hq, Sq, Dv), packed or ragged (T, Hq, Dv), in `outDType` (default: that of q); f32 lse and,
 * if requested, max and sumExp (Hq, T) when q is packed by cuSeqLensQ, else (B, Hq, Sq); u8 dropoutMask (B,
 * Hq, Sq, Skv). All contiguous. Rows that belong to no sequence are fully masked: o = 0, lse = max = −∞,
 * sumExp = 0.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the
 * rule.
 */
export function sdpa(q: Tensor, k: Tensor, v: Tensor, options: SdpaOptions<Tensor> = {}): SdpaResult<Tensor> {
  const { problem, operands } = normaliseOnHost({ q, k, v }, options);
  const { outputs } = problem;
  const { o, lse, max, sumExp, dropoutMask, amaxS, amaxO } = forward(problem, operands);
  return {
    o: round(o, problem.o.dtype),
    lse: round(lse, 'f32'),
    ...(outputs.max && { max: round(max, 'f32') }),
    ...(outputs.sumExp && { sumExp: round(sumExp, 'f32') }),
    ...(dropoutMask && { dropoutMask }),
    ...(amaxS && { amaxS: round(amaxS, 'f32') }),
    ...(amaxO && { amaxO: round(amaxO, 'f32') }),
  };
}

/**
 * Gradients of attention in float64 (with the formulas of `sdpaBackwardFloat64`), each result rounded once.
 *
 * @param inputs the forward inputs and results, dO (shaped like o), and dLse (shaped like lse, default 0).
 * @param options the options of the forward call, and the wanted `gradients`.
 * @returns the wanted gradients: dq, dk, dv in shape and dtype (or `gradDType`) of q, k, v; dbias in those of
 * the bias; f32 (Hq) dsink and dAlibi. If the score mod loads floats, `dCaptures` has the gradient of each
 * such tensor, in its shape and dtype.
 * @throws as `sdpa`; a paged k or v has no gradient, so the other gradients must be requested by name.
 */
export function sdpaBackward<G extends GradientName = 'dq' | 'dk' | 'dv'>(
  inputs: BackwardInputs<Tensor>,
  options: SdpaBackwardOptions<Tensor, G> = {},
): SdpaGradients<Tensor, G> {
  const { problem, operands } = normaliseBackwardOnHost(inputs, options);
  const { dCaptures, ...exact } = backward(problem, operands, forwardResults(inputs, problem, operands));
  const { dq, dk, dv } = problem;
  const { bias, captures } = problem.forward;
  const descs: Readonly<Record<string, { readonly dtype: DType } | null>> = { dq, dk, dv, dbias: bias };
  // `exact` has every gradient of `options.gradients`, as G says.
  const gradients = roundAll(exact, name => descs[name]?.dtype) as SdpaGradients<Tensor, G>;
  if (!dCaptures) return gradients;
  return { ...gradients, dCaptures: roundAll(dCaptures, name => captures[name].dtype) };
}

/** Results by name, f32 unless `dtypeOf` says otherwise. */
function roundAll(
  results: Readonly<Record<string, Float64Tensor>>,
  dtypeOf: (name: string) => DType | undefined,
): Record<string, Tensor> {
  const rounded = Object.entries(results).map(
    ([name, t]) => [name, round(t, dtypeOf(name) ?? 'f32')] as const,
  );
  return Object.fromEntries(rounded);
}

function round({ values, shape }: Float64Tensor, dtype: DType): Tensor {
  return Tensor.from(values, shape, { dtype });
}
