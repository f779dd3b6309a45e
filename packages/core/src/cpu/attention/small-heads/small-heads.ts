import { runSmallHeadGradients } from './backward.ts';
import type { ComputeHeads } from './compute-heads.ts';
import { runSmallHeads } from './forward.ts';

type WithoutCompute<A extends readonly unknown[]> = A extends readonly [...infer Others, ComputeHeads]
  ? Others
  : never;

/**
 * Passes over problems whose heads are one tile each. For other problems they return false and compute
 * nothing.
 */
export interface SmallHeads {
  forward(...pass: WithoutCompute<Parameters<typeof runSmallHeads>>): boolean;
  backward(...pass: WithoutCompute<Parameters<typeof runSmallHeadGradients>>): boolean;
}

/** Passes over small heads, run by `compute`. */
export function createSmallHeads(compute: ComputeHeads): SmallHeads {
  return {
    forward: (...pass) => runSmallHeads(...pass, compute),
    backward: (...pass) => runSmallHeadGradients(...pass, compute),
  };
}
