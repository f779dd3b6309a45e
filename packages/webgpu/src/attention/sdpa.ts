import {
  type AttentionProblem,
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
  type Operands,
  rowShape,
  type SdpaBackwardOptions,
  type SdpaGradients,
  type SdpaOptions,
  type SdpaResult,
  type Shape,
  Tensor,
} from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import type { GpuContext } from '../device/context.ts';
import type { GpuTensor } from '../device/gpu-tensor.ts';
import { enqueue, type ResultDesc } from './enqueue.ts';
import { layoutsOf, planBackward } from './plan-backward.ts';
import { planForward } from './plan-forward.ts';

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
  const empty = (value: number): number | null => (hasUnusedTokens(problem, operands) ? value : null);
  const rows = (value: number): ResultDesc => contiguous('f32', rowShape(problem), empty(value));
  const results: Record<string, ResultDesc> = {
    o: contiguous(o.dtype, callerShape(o, packed), empty(0)),
    lse: rows(-Infinity),
  };
  if (outputs.max) results.max = rows(-Infinity);
  if (outputs.sumExp) results.sumExp = rows(0);
  const enqueued = enqueue(ctx, {
    key: ['forward', problem],
    operands,
    results,
    dropout: problem.dropout,
    plan: unaligned => planForward(ctx, problem, { unaligned }, toolsOf(options)),
  });
  return enqueued as unknown as SdpaResult<GpuTensor>;
}

/**
 * Attention backward, enqueued at once: the gradients asked for, contiguous, each in the shape and dtype of what it is the
 * gradient of (dAlibi and dsink: f32). `o` and `lse` are those of `sdpa` with the same options; the dropout mask is drawn again.
 * Two runs give the same bits.
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
    const result = contiguous(desc.dtype, callerShape(desc, packed), packed ? 0 : null);
    return { result, layout: packed ? describePacked(name, result.desc) : describeDense(name, result.desc) };
  };
  const { dq, dk, dv } = layoutsOf(problem);
  const made = { dq: like('dq', dq), dk: like('dk', dk), dv: like('dv', dv) };
  const { bias } = forward;
  const perHead = contiguous('f32', [forward.Hq], null);
  const results: Readonly<Partial<Record<GradientName, ResultDesc>>> = {
    dq: made.dq.result,
    dk: made.dk.result,
    dv: made.dv.result,
    ...(bias ? { dbias: contiguous(bias.dtype, bias.source, null) } : {}),
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
      planBackward(
        ctx,
        problem,
        { layouts: { dq: made.dq.layout, dk: made.dk.layout, dv: made.dv.layout }, unaligned },
        toolsOf(options),
      ),
  });
  return enqueued as SdpaGradients<GpuTensor, G>;
}

/** Mods bring the code that writes them, so that a program without any does not hold it. */
function toolsOf({ scoreMod, maskMod }: SdpaOptions<unknown>): ExprTools | null {
  return (scoreMod ?? maskMod)?.tools ?? null;
}

/** A result without gaps between its elements. */
function contiguous(dtype: DType, shape: Shape, fill: number | null): ResultDesc {
  return { desc: { dtype, shape, strides: contiguousStrides(shape) }, fill };
}

/**
 * Whether some query tokens may belong to no sequence: behind the last one, or behind a sequence's used length. Kernels do not
 * write their rows, which in a new tensor are those of a query without keys.
 */
function hasUnusedTokens(
  { packed, lengthsQ, B, q }: AttentionProblem,
  { cuSeqLensQ }: Operands<GpuTensor | Tensor>,
): boolean {
  if (!packed) return false;
  const allUsed =
    lengthsQ === 'cumulative' && cuSeqLensQ instanceof Tensor && cuSeqLensQ.get(B) === q.shape[2];
  return !allUsed;
}
