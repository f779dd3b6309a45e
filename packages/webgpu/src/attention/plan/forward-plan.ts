import type { AttentionProblem } from '@tilewise/core';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import { forwardAmaxes } from '../fp8-steps.ts';
import { noTools } from '../kernel-config.ts';
import { dropoutMaskKernel } from '../kernels/forward/dropout-mask.ts';
import { forwardKernel } from '../kernels/forward/forward.ts';
import { type ForwardShape, forwardShape } from '../kernels/forward/forward-shape.ts';
import { mergedRows, mergeKernel } from '../kernels/forward/merge.ts';
import { type AttentionPlan, kernelMaker, type PlanOn } from './attention-plan.ts';
import { forwardTensors, type PlanTensors } from './tensors.ts';

/** The plan of a forward problem. */
export function forwardPlan(
  problem: AttentionProblem,
  on: PlanOn,
  shape: ForwardShape = forwardShape(problem, on.target),
): AttentionPlan {
  const { tools = noTools } = on;
  const tensors = forwardTensors(problem, shape, tools);
  const dequantised = tools.mxfp8?.dequantisedProblem(problem);
  if (!tools.mxfp8 || !dequantised)
    return { ...tensors, kernels: forwardKernels(problem, on, shape, tensors) };
  const { config } = kernelMaker(on, tensors);
  const onWorkspace = { ...on, unaligned: new Set<string>() };
  const inWorkspace = forwardTensors(dequantised, shape, tools);
  return {
    ...tensors,
    kernels: [
      ...tools.mxfp8.dequantiseKernels(problem, 'forward', config),
      ...forwardKernels(dequantised, onWorkspace, shape, inWorkspace).map(tools.mxfp8.onWorkspace),
    ],
  };
}

function forwardKernels(
  problem: AttentionProblem,
  on: PlanOn,
  shape: ForwardShape,
  tensors: PlanTensors,
): KernelSpec[] {
  const { config, make } = kernelMaker(on, tensors);
  const { fp8 } = config.tools;
  return [
    ...(fp8 ? fp8.clearAmaxKernels(forwardAmaxes(problem)) : []),
    make(own => forwardKernel(problem, shape, own)),
    ...(fp8 && problem.fp8?.kind === 'scaled' ? [make(own => fp8.outputKernel(problem, own))] : []),
    ...(shape.parts > 1 ? [mergeKernel(mergedRows(problem), shape.parts, config)] : []),
    ...(problem.outputs.dropoutMask ? [dropoutMaskKernel(problem)] : []),
  ];
}
