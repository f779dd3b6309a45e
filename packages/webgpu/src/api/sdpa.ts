import {
  type AttentionProblem,
  type BackwardInputs,
  contiguousStrides,
  type DType,
  type ForwardInputs,
  type GradientName,
  type OperandDesc,
  type Operands,
  type SdpaBackwardOptions,
  type SdpaGradients,
  type SdpaOptions,
  type SdpaResult,
  type Shape,
  type Tensor,
} from '@tilewise/core';
import {
  callerShape,
  contiguousDesc,
  type HostArray,
  isHostArray,
  normaliseBackwardCall,
  normaliseCall,
  numberAt,
  rowShape,
} from '@tilewise/core/engine';
import { backwardAmaxes, forwardAmaxes } from '../attention/config/fp8-steps.ts';
import { captureGradient, dropoutMaskOutput } from '../attention/config/tensor-names.ts';
import { checkContext } from '../device/check-kind.ts';
import { demandSupport } from '../device/support.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { CallResult, EagerCall } from '../runtime/eager-call.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import { eagerCall, keyOfProblem } from './eager-attention.ts';
import { asGiven, type CallNumbers } from './plan/plan.ts';
import { planBackward } from './plan/plan-backward.ts';
import { planForward } from './plan/plan-forward.ts';
import { type CallTools, missingModules, readersOf, toolsOf } from './tools/tools.ts';

/**
 * Attention forward, enqueued at once: o (B, Hq, Sq, Dv) in `outDType` and lse f32 (B, Hq, Sq), contiguous;
 * packed (T, Hq, Dv) and (Hq, T). Tensors in the options may be on the host (they are uploaded for the call).
 * Make the options `fp8` and `mxfp8` with the functions of the same names from `@tilewise/webgpu/fp8`, which
 * bring the kernels.
 *
 * The first call with a new structure of problem compiles its kernels in the background and returns at once.
 * This call, and all later calls on contexts of the device, reach the GPU when the kernels are compiled:
 * await `ctx.submitted()` before you submit work of your own on the results. `warmUp` compiles the kernels
 * beforehand.
 * @param q (B, Hq, Sq, Dqk) of any float dtype and strides; packed or ragged (T, Hq, Dqk).
 * @param k (B, Hk, Skv, Dqk), packed or ragged (T, Hk, Dqk), or paged (blocks, Hk, pageSize, Dqk).
 * @param v (B, Hv, Skv, Dv) likewise.
 * @throws InvalidArgumentError, InvalidShapeError, InvalidDTypeError or UnsupportedError before any work. If
 * something goes wrong on the GPU, `download` of the results rejects.
 */
export function sdpa(
  ctx: GpuContext,
  q: GpuTensor,
  k: GpuTensor,
  v: GpuTensor,
  options: SdpaOptions<GpuTensor | Tensor> = {},
): SdpaResult<GpuTensor> {
  checkContext(ctx);
  const inputs = { q, k, v };
  const make = () => forwardCall(ctx, toolsOf(ctx, options), inputs, options);
  return ctx.run(ctx.remembered(inputs, options, make)).results;
}

/** The call of `sdpa`, with the tools for its kernels. */
export function forwardCall(
  ctx: GpuContext,
  tools: CallTools,
  inputs: ForwardInputs<GpuTensor>,
  options: SdpaOptions<GpuTensor | Tensor> = {},
): EagerCall<CallNumbers, SdpaResult<GpuTensor>> {
  for (const [name, tensor] of Object.entries(inputs)) ctx.checkOwn(name, tensor);
  const { problem, operands } = normaliseCall<GpuTensor | Tensor>(inputs, options, readersOf(tools));
  demandSupport(missingModules(tools, problem));
  const { outputs, o, q: descQ } = problem;
  // The remembered functions below share one scope, so no function in it may use the operands.
  const hasUnusedRows = hasUnusedTokens(descQ, problem, operands);
  const rows = (name: string, value: number): CallResult =>
    contiguous(name, 'f32', rowShape(problem), hasUnusedRows ? value : null);
  const results = [
    contiguous('o', o.dtype, callerShape(o), hasUnusedTokens(o, problem, operands) ? 0 : null),
    rows('lse', -Infinity),
  ];
  if (outputs.max) results.push(rows('max', -Infinity));
  for (const name of forwardAmaxes(problem)) results.push(contiguous(name, 'f32', [1]));
  if (outputs.sumExp) results.push(rows('sumExp', 0));
  const { B, Hq, Sq, Skv } = problem;
  if (outputs.dropoutMask) results.push(contiguous(dropoutMaskOutput, 'u8', [B, Hq, Sq, Skv]));
  return eagerCall(ctx, {
    key: ['forward', keyOfProblem(problem, tools)],
    operands,
    results,
    dropout: problem.dropout,
    tools,
    plan: unaligned => planForward(ctx, problem, { unaligned: new Set(unaligned), tools }, asGiven),
    resultsOf(tensors) {
      if (outputs.dropoutMask) {
        tensors.dropoutMask = tensors[dropoutMaskOutput];
        delete tensors[dropoutMaskOutput];
      }
      return tensors as unknown as SdpaResult<GpuTensor>;
    },
  });
}

/**
 * Attention backward, enqueued at once: the requested gradients, contiguous, each in the shape and dtype of
 * its tensor (dAlibi and dsink: f32). If the score mod loads float tensors, `dCaptures` has the gradient of
 * each. `o` and `lse` must be the results of `sdpa` with the same options; the dropout mask is generated
 * again. Two runs give the same bits. The first call compiles kernels, as the first call of `sdpa` does.
 * @param inputs q, k, v, o and lse of the forward call, dO (shaped like o), and dLse (shaped like lse,
 * default 0).
 * @param options the options of the forward call, and the wanted `gradients`.
 * @throws as `sdpa`; a paged k or v has no gradient, so request the other gradients by name.
 */
export function sdpaBackward<G extends GradientName = 'dq' | 'dk' | 'dv'>(
  ctx: GpuContext,
  inputs: BackwardInputs<GpuTensor>,
  options: SdpaBackwardOptions<GpuTensor | Tensor, G> = {},
): SdpaGradients<GpuTensor, G> {
  checkContext(ctx);
  const make = () => backwardCall(ctx, toolsOf(ctx, options), inputs, options);
  return ctx.run(ctx.remembered(inputs, options, make)).results;
}

/** The call of `sdpaBackward`, with the tools for its kernels. */
export function backwardCall<G extends GradientName = 'dq' | 'dk' | 'dv'>(
  ctx: GpuContext,
  tools: CallTools,
  inputs: BackwardInputs<GpuTensor>,
  options: SdpaBackwardOptions<GpuTensor | Tensor, G> = {},
): EagerCall<CallNumbers, SdpaGradients<GpuTensor, G>> {
  const { problem: given, operands } = normaliseBackwardCall<GpuTensor | Tensor>(
    inputs,
    options,
    readersOf(tools),
  );
  // The names of the inputs are checked by now.
  for (const [name, tensor] of Object.entries(inputs)) if (tensor) ctx.checkOwn(name, tensor);
  demandSupport(missingModules(tools, given.forward, given.gradients));
  const { dq, dk, dv } = given;
  const problem = { ...given, dq: contiguousDesc(dq), dk: contiguousDesc(dk), dv: contiguousDesc(dv) };
  const { forward, gradients } = problem;
  const { bias, Hq } = forward;
  const results = (['dq', 'dk', 'dv'] as const).map(name => {
    const { dtype, starts } = problem[name];
    return contiguous(name, dtype, callerShape(problem[name]), starts === 'strided' ? null : 0);
  });
  if (bias) results.push(contiguous('dbias', bias.dtype, bias.source));
  for (const name of ['dAlibi', 'dsink']) results.push(contiguous(name, 'f32', [Hq]));
  const wanted = results.filter(({ name }) => gradients.includes(name as GradientName));
  for (const name of backwardAmaxes(problem)) wanted.push(contiguous(name, 'f32', [1]));
  const captures = forward.scoreMod && tools.expr ? tools.expr.floatCaptures(forward.scoreMod) : [];
  for (const name of captures) {
    const { dtype, shape } = forward.captures[name];
    wanted.push(contiguous(captureGradient(name), dtype, shape));
  }
  return eagerCall(ctx, {
    key: ['backward', { ...problem, forward: keyOfProblem(forward, tools) }],
    operands,
    results: wanted,
    dropout: forward.dropout,
    tools,
    plan: unaligned => planBackward(ctx, problem, { unaligned: new Set(unaligned), tools }, asGiven),
    resultsOf(tensors) {
      const own = tensors as SdpaGradients<GpuTensor, G>;
      if (captures.length === 0) return own;
      const dCaptures: Record<string, GpuTensor> = {};
      for (const name of captures) {
        dCaptures[name] = tensors[captureGradient(name)];
        delete tensors[captureGradient(name)];
      }
      return { ...own, dCaptures };
    },
  });
}

/**
 * Describes a result without gaps between its elements; `fill` is the value of elements that kernels may
 * leave unwritten.
 */
function contiguous(name: string, dtype: DType, shape: Shape, fill: number | null = null): CallResult {
  return { name, desc: { dtype, shape, strides: contiguousStrides(shape) }, fill };
}

/**
 * Whether some tokens of a packed or ragged result may belong to no sequence: between two sequences, after
 * the last one, or after a sequence's used length. Kernels do not write the rows of such tokens; in a new
 * tensor, these rows get the values of a query without keys.
 */
function hasUnusedTokens(
  { starts, shape }: OperandDesc,
  { lengthsQ, B }: AttentionProblem,
  { cuSeqLensQ }: Operands<GpuTensor | HostArray>,
): boolean {
  if (starts !== 'cumulative') return starts === 'ragged';
  const allUsed =
    lengthsQ === 'cumulative' && isHostArray(cuSeqLensQ) && numberAt(cuSeqLensQ, B) === shape[2];
  return !allUsed;
}
