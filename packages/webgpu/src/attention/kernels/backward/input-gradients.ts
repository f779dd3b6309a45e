import type { SumTools } from '../../config/kernel-config.ts';
import { scoreInputGradientKernels, scoreInputVectors } from './dbias-dalibi.ts';
import { dsinkKernel } from './dsink.ts';
import { sumBytes } from './sum-division.ts';
import { sumTile } from './sum-tile.ts';

/** The kernels of the gradients of bias, ALiBi slopes and sinks. */
export const inputGradientTools: SumTools = {
  kernels: (problem, config, capabilities) => [
    ...scoreInputGradientKernels(problem, {
      ...config,
      tile: sumTile(config.tile, problem.forward, capabilities, sumBytes),
    }),
    ...(problem.gradients.includes('dsink') ? [dsinkKernel(problem, config)] : []),
  ],
  vectors: (problem, dq, capabilities) =>
    scoreInputVectors(problem, sumTile(dq, problem.forward, capabilities, sumBytes)),
};
