import type { HeadPass } from '../../kernels/interface/head-kernels.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';

/** A pass over all heads of a problem. */
export interface HeadWork {
  readonly pass: HeadPass;
  readonly heads: number;
  readonly multiplications: number;
  /**
   * Writes the numbers of the pass for some threads, whose scratch memory are panels; returns their address.
   * @param allocate allocates i32, and returns the address of the first.
   */
  write(threads: number, allocate: (words: number) => number): number;
}

/** Runs a pass on one thread or on several, which does not change results. */
export type ComputeHeads = (kernels: Kernels, work: HeadWork) => void;
