import type { HeadPass } from '../../kernels/interface/head-kernels.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';

/** A pass over all heads of a problem. */
interface HeadWork {
  readonly pass: HeadPass;
  readonly heads: number;
  readonly multiplications: number;
}

/**
 * Runs a pass on one thread or on several, which does not change results.
 * @param write writes the numbers of the pass for a number of threads, and returns their address.
 */
export type ComputeHeads = (kernels: Kernels, work: HeadWork, write: (threads: number) => number) => void;
