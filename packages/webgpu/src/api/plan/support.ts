import { type AttentionProblem, type BackwardProblem, dtypeTraits } from '@tilewise/core';
import type { KernelTools } from '../../attention/config/kernel-config.ts';
import { missingModules } from '../tools/tools.ts';

/** Largest head size of the kernels. */
const maxHeadSize = 512;

/** Why kernels do not compute rows of so many channels, if they do not. */
export const headSizeReasons = (D: number): string[] =>
  D > maxHeadSize ? [`head size ${D} is above ${maxHeadSize}`] : [];

/** The reasons against a forward problem, before any kernel is made for it. */
export const forwardReasons = (problem: AttentionProblem, tools: KernelTools): string[] => [
  ...headSizeReasons(Math.max(problem.Dqk, problem.Dv)),
  ...missingModules(tools, problem),
];

/** The reasons against a backward problem, before any kernel is made for it. */
export function backwardReasons({ forward, gradients }: BackwardProblem, tools: KernelTools): string[] {
  const { fp8, scoreMod, captures, Dqk, Dv } = forward;
  const hasGradients = Object.values(captures).some(({ dtype }) => dtypeTraits[dtype].kind === 'float');
  return [
    ...headSizeReasons(Math.max(Dqk, Dv)),
    // The kernel of these gradients writes to the workspace, where dequantised operands lie.
    ...(fp8?.kind === 'blocks' && scoreMod && hasGradients
      ? ['gradients of captured tensors are not supported with mxfp8']
      : []),
    ...missingModules(tools, forward, gradients),
  ];
}
