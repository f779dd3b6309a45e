import {
  type BackwardInputs,
  callerShape,
  contiguousStrides,
  type DType,
  describeDense,
  describePacked,
  type GradientName,
  normalise,
  normaliseBackward,
  type OperandDesc,
  rowShape,
  type SdpaBackwardOptions,
  type SdpaGradients,
  type SdpaOptions,
  type SdpaResult,
  type Shape,
  type Tensor,
} from '@tilewise/core';
import type { GpuContext } from '../device/context.ts';
import type { GpuTensor } from '../device/gpu-tensor.ts';
import { enqueue, type ResultDesc } from './enqueue.ts';
import { planSdpaBackward } from './plan-backward.ts';
import { planSdpa } from './plan-forward.ts';

/**
 * Attention forward, enqueued at once: o (B, Hq, Sq, Dv) in `outDType` and lse f32 (B, Hq, Sq), contiguous; packed
 * (T, Hq, Dv) and (Hq, T). Tensors in the options may be on the host (they are uploaded for the call).
 * @throws InvalidArgumentError, InvalidShapeError, InvalidDTypeError or UnsupportedError before any work. What goes wrong
 * on the GPU rejects the `download` of the results.
 */
export function sdpa(
  ctx: GpuContext,
  q: GpuTensor,
  k: GpuTensor,
  v: GpuTensor,
  options: SdpaOptions<GpuTensor | Tensor> = {},
): SdpaResult<GpuTensor> {
  ctx.checkAlive();
  for (const [name, tensor] of Object.entries({ q, k, v })) ctx.checkOwn(name, tensor);
  const { problem, operands } = normalise<GpuTensor | Tensor>({ q, k, v }, options);
  const { packed, outputs, o } = problem;
  const rows = contiguous('f32', rowShape(problem), packed);
  const results: Record<string, ResultDesc> = {
    o: contiguous(o.dtype, callerShape(o, packed), packed),
    lse: rows,
  };
  if (outputs.max) results.max = rows;
  if (outputs.sumExp) results.sumExp = rows;
  const enqueued = enqueue(ctx, {
    key: ['forward', problem],
    operands,
    results,
    dropout: problem.dropout,
    plan: unaligned => planSdpa(ctx, problem, { unaligned }),
  });
  return enqueued as unknown as SdpaResult<GpuTensor>;
}

/**
 * Attention backward, enqueued at once: the gradients asked for, contiguous, each in the shape and dtype of what it is the
 * gradient of (dAlibi and dsink: f32). `o` and `lse` are those
 * of `sdpa` with the same options; the dropout mask is drawn again. Two runs give the same bits.
 * @throws as `sdpa`.
 */
export function sdpaBackward<G extends GradientName = 'dq' | 'dk' | 'dv'>(
  ctx: GpuContext,
  inputs: BackwardInputs<GpuTensor>,
  options: SdpaBackwardOptions<GpuTensor | Tensor, G> = {},
): SdpaGradients<GpuTensor, G> {
  ctx.checkAlive();
  for (const [name, tensor] of Object.entries(inputs)) if (tensor) ctx.checkOwn(name, tensor);
  const { problem, operands } = normaliseBackward<GpuTensor | Tensor>(inputs, options);
  const { forward, gradients } = problem;
  const { packed } = forward;
  const like = (name: string, desc: OperandDesc): { result: ResultDesc; layout: OperandDesc } => {
    const result = contiguous(desc.dtype, callerShape(desc, packed), packed);
    return { result, layout: packed ? describePacked(name, result.desc) : describeDense(name, result.desc) };
  };
  const made = { dq: like('dq', forward.q), dk: like('dk', forward.k), dv: like('dv', forward.v) };
  const { bias } = forward;
  const perHead = contiguous('f32', [forward.Hq], false);
  const results: Readonly<Partial<Record<GradientName, ResultDesc>>> = {
    dq: made.dq.result,
    dk: made.dk.result,
    dv: made.dv.result,
    ...(bias ? { dbias: contiguous(bias.dtype, bias.source, false) } : {}),
    dAlibi: perHead,
    dsink: perHead,
  };
  const wanted = Object.entries(results).filter(([name]) => gradients.includes(name as GradientName));
  const enqueued = enqueue(ctx, {
    key: ['backward', problem],
    operands,
    results: Object.fromEntries(wanted),
    dropout: forward.dropout,
    plan: unaligned =>
      planSdpaBackward(ctx, problem, {
        layouts: { dq: made.dq.layout, dk: made.dk.layout, dv: made.dv.layout },
        unaligned,
      }),
  });
  return enqueued as SdpaGradients<GpuTensor, G>;
}

/** A result without gaps. Packed tensors may hold more tokens than there are, which no kernel writes. */
function contiguous(dtype: DType, shape: Shape, packed: boolean): ResultDesc {
  return { desc: { dtype, shape, strides: contiguousStrides(shape) }, clear: packed };
}
