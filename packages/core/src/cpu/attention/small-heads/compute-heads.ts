import type { HeadPass } from '../../kernels/interface/head-kernels.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import type { AllocateWords } from '../../kernels/memory/memory.ts';

/** A pass over all heads of a problem. */
export interface HeadWork {
  readonly pass: HeadPass;
  readonly heads: number;
  readonly multiplications: number;
  /**
   * Writes the numbers of the pass for some threads, and takes panels as their scratch memory; returns the
   * address of the numbers.
   */
  write(threads: number, allocate: AllocateWords): number;
}

/** Runs a pass on one thread or on several, which does not change results. */
export type ComputeHeads = (kernels: Kernels, work: HeadWork) => void;
