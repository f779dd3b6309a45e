import {
  type BackwardInputs,
  type DType,
  type Engine,
  type GradientName,
  type SdpaBackwardOptions,
  type SdpaGradients,
  Tensor,
} from '@tilewise/core';
import {
  type Float64Tensor,
  referenceEngine,
  sdpaBackwardFloat64,
  sdpaFloat64,
} from '@tilewise/core/reference';

/**
 * The reference as an engine whose backward pass uses its own o and lse before rounding. Rounding lse to f32
 * alone adds an error of |lse|·2^-24 to every probability, which exceeds the reference's tolerance of 1e-6
 * once scores reach 20.
 */
export function exactReference(): Engine<Tensor> {
  const unrounded = new WeakMap<Tensor, Float64Tensor>();

  async function sdpa(...[q, k, v, options]: Parameters<Engine<Tensor>['sdpa']>) {
    const exact = sdpaFloat64(q, k, v, options);
    const o = round(exact.o, options?.outDType ?? q.dtype);
    const lse = round(exact.lse, 'f32');
    unrounded.set(o, exact.o).set(lse, exact.lse);
    return { o, lse };
  }

  async function sdpaBackward<G extends GradientName>(
    inputs: BackwardInputs<Tensor>,
    options?: SdpaBackwardOptions<Tensor, G>,
  ): Promise<SdpaGradients<Tensor, G>> {
    const o = unrounded.get(inputs.o) ?? inputs.o;
    const lse = unrounded.get(inputs.lse) ?? inputs.lse;
    const { dCaptures: _, ...exact } = sdpaBackwardFloat64({ ...inputs, o, lse }, options);
    const dtypes = { dq: inputs.q.dtype, dk: inputs.k.dtype, dv: inputs.v.dtype };
    const gradients = Object.entries(exact).map(([name, gradient]) => [
      name,
      round(gradient, dtypes[name as keyof typeof dtypes] ?? 'f32'),
    ]);
    return Object.fromEntries(gradients);
  }

  return { ...referenceEngine(), sdpa, sdpaBackward };
}

function round({ values, shape }: Float64Tensor, dtype: DType): Tensor {
  return Tensor.from(values, shape, { dtype });
}
