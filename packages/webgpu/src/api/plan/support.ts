import { type AttentionProblem, type BackwardProblem, dtypeTraits } from '@tilewise/core';

/** Largest head size of the kernels. */
const maxHeadSize = 512;

/** Why kernels do not compute rows of so many channels, if they do not. */
export const headSizeReasons = (D: number): string[] =>
  D > maxHeadSize ? [`head size ${D} is above ${maxHeadSize}`] : [];

/** The reasons against a forward problem, before any kernel is made for it. */
export const forwardReasons = ({ Dqk, Dv }: AttentionProblem): string[] => headSizeReasons(Math.max(Dqk, Dv));

/** The reasons against a backward problem, before any kernel is made for it. */
export function backwardReasons({ forward }: BackwardProblem): string[] {
  const { fp8, scoreMod, captures } = forward;
  const hasGradients = Object.values(captures).some(({ dtype }) => dtypeTraits[dtype].kind === 'float');
  return [
    ...forwardReasons(forward),
    // The kernel of these gradients writes to the workspace, where dequantised operands lie.
    ...(fp8?.kind === 'blocks' && scoreMod && hasGradients
      ? ['gradients of captured tensors are not supported with mxfp8']
      : []),
  ];
}
