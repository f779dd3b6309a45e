import type { Tensor } from '@tilewise/core';
import { exprTools } from '@tilewise/core/expr';
import type { TensorEngine } from '@tilewise/core/primitive';
import { fp8Tools } from '../../attention/fp8/fp8.ts';
import { mxfp8Tools } from '../../attention/fp8/mxfp8.ts';
import { checkKind } from '../../device/check-kind.ts';
import { isLost } from '../../device/gpu-work.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { EagerRun } from '../../runtime/eager-call.ts';
import { createKernelMemo } from '../../runtime/kernel-memo.ts';
import type { GpuTensor } from '../../runtime/memory/gpu-tensor.ts';
import { Recorder } from '../../runtime/recorder.ts';
import { supportWith } from '../plan/plan-backward.ts';
import { prepareAttention } from '../plan/prepared-attention.ts';
import { backwardCall, forwardCall } from '../sdpa.ts';
import { fp8List } from '../tools/fp8-list.ts';
import { loadedTools } from '../tools/tools.ts';
import { gpuPrimitives } from './gpu-primitives.ts';

/**
 * Wraps a context as an engine for attention and for primitives. The promises of `sdpa` and `sdpaBackward`
 * resolve when the work has been submitted to the GPU. Kernels that are not compiled yet are compiled in the
 * background first, and later calls wait for them.
 * @throws InvalidArgumentError if `ctx` is not a GpuContext.
 */
export function webgpuEngine(ctx: GpuContext): TensorEngine<GpuTensor> {
  checkKind('ctx', ctx, 'a GpuContext');
  const recorder = new Recorder(ctx);
  const memo = createKernelMemo();
  // Mods and options for 8 bits arrive as plain data.
  const tools = { ...loadedTools(ctx, exprTools), fp8: fp8Tools, mxfp8: mxfp8Tools, list: fp8List };
  return {
    name: 'webgpu',
    description: ctx.device.adapterInfo?.description || ctx.capabilities.adapter || 'WebGPU',
    checkSupport: problem => supportWith(ctx, problem, tools, memo),
    upload: (tensor: Tensor) => ctx.upload(tensor),
    overwrite: (tensor, from) =>
      !recorder.uses(tensor.buffer) && !isLost(tensor.buffer) && ctx.overwrite(tensor, from),
    download: tensor => recorder.download(tensor),
    release: tensor => ctx.release(tensor),
    primitives: gpuPrimitives(ctx, recorder, memo),
    batch: work => recorder.batch(work),
    prepareAttention: problem => prepareAttention(ctx, recorder, memo, tools, problem),
    recording: { encode: (target, work) => recorder.encode(target, work) },
    sdpa: async (q, k, v, options) => submitted(ctx.run(forwardCall(ctx, tools, { q, k, v }, options))),
    sdpaBackward: async (inputs, options) => submitted(ctx.run(backwardCall(ctx, tools, inputs, options))),
  };
}

/**
 * The results of a run, once its work has been submitted to the GPU. Rejects if its kernels do not compile.
 */
async function submitted<Results>(run: EagerRun<Results>): Promise<Results> {
  if (run.submitted) await run.submitted;
  return run.results;
}
