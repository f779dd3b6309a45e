import type { SumTools } from '../../config/kernel-config.ts';
import { scoreInputGradientKernels, scoreInputVectors } from './dbias-dalibi.ts';
import { dsinkKernel } from './dsink.ts';

/** The kernels of the gradients of bias, ALiBi slopes and sinks. */
export const inputGradientTools: SumTools = {
  kernels: (problem, config) => [
    ...scoreInputGradientKernels(problem, config),
    ...(problem.gradients.includes('dsink') ? [dsinkKernel(problem, config)] : []),
  ],
  vectors: scoreInputVectors,
};
