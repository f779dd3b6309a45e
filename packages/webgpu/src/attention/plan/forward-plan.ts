import type { AttentionProblem } from '@tilewise/core';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import { forwardAmaxes } from '../config/fp8-steps.ts';
import { forwardKernel } from '../kernels/forward/forward.ts';
import { type ForwardShape, forwardShape } from '../kernels/forward/forward-shape.ts';
import { type AttentionPlan, kernelMaker, type PlanOn } from './attention-plan.ts';
import { forwardTensors, type PlanTensors } from './tensors.ts';

/** The plan of a forward problem. */
export function forwardPlan(
  problem: AttentionProblem,
  on: PlanOn,
  shape: ForwardShape = plannedShape(problem, on),
): AttentionPlan {
  const { tools } = on;
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

function plannedShape(problem: AttentionProblem, { target, tools }: PlanOn): ForwardShape {
  const shape = forwardShape(problem, target);
  return tools.splitKv ? shape : { ...shape, parts: 1 };
}

function forwardKernels(
  problem: AttentionProblem,
  on: PlanOn,
  shape: ForwardShape,
  tensors: PlanTensors,
): KernelSpec[] {
  const { config, make } = kernelMaker(on, tensors);
  const { dropout, fp8, splitKv } = config.tools;
  return [
    ...(fp8 ? fp8.clearAmaxKernels(forwardAmaxes(problem)) : []),
    make(own => forwardKernel(problem, shape, own)),
    ...(fp8 && problem.fp8?.kind === 'scaled' ? [make(own => fp8.outputKernel(problem, own))] : []),
    ...(splitKv && shape.parts > 1 ? [splitKv.mergeKernel(problem, shape.parts, config)] : []),
    ...(dropout && problem.outputs.dropoutMask ? [dropout.maskKernel(problem)] : []),
  ];
}
