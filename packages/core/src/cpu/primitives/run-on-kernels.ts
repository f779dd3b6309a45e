import type { Tensor } from '../../tensor/tensor.ts';
import type { Crew } from '../crew/crew.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';

/**
 * Runs a primitive on kernels whose memory it may use, and on a crew if there is one; false, and nothing is
 * run, where these kernels cannot.
 */
export type RunOnKernels = (
  kernels: Kernels,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
  crew: Crew | null,
) => boolean;
