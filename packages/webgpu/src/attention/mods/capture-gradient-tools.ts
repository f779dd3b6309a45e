import type { ExprTools } from '@tilewise/core/expr';
import type { SumTools } from '../config/kernel-config.ts';
import { captureGradientKernels, captureTableVectors } from './capture-gradients.ts';

/** The kernels of the gradients of captured tensors, whose expressions `expr` writes as WGSL. */
export function captureGradientTools(expr: ExprTools): SumTools {
  return {
    kernels: (problem, config) => captureGradientKernels(problem, config, expr),
    vectors: captureTableVectors,
  };
}
