import type { AttentionProblem, BackwardProblem } from '@tilewise/core';
import type { KernelTools } from '../../attention/config/kernel-config.ts';
import { hasFloats, missingModules } from '../tools/tools.ts';

/** The largest head size that the kernels compute. */
const maxHeadSize = 512;

/** The reasons why the kernels cannot compute rows of `D` channels, if they cannot. */
export const headSizeReasons = (D: number): string[] =>
  D > maxHeadSize ? [`head size ${D} is above ${maxHeadSize}`] : [];

/** The reasons why a forward problem is unsupported, found before any kernel is made. */
export const forwardReasons = (problem: AttentionProblem, tools: KernelTools): string[] => [
  ...headSizeReasons(Math.max(problem.Dqk, problem.Dv)),
  ...missingModules(tools, problem),
];

/** The reasons why a backward problem is unsupported, found before any kernel is made. */
export function backwardReasons({ forward, gradients }: BackwardProblem, tools: KernelTools): string[] {
  const { fp8, scoreMod, captures, Dqk, Dv } = forward;
  return [
    ...headSizeReasons(Math.max(Dqk, Dv)),
    // The kernel of these gradients writes to the workspace, which also holds the dequantised operands.
    ...(fp8?.kind === 'blocks' && scoreMod && hasFloats(captures)
      ? ['gradients of captured tensors are not supported with mxfp8']
      : []),
    ...missingModules(tools, forward, gradients),
  ];
}
