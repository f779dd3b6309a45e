import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import type { Team } from '../team/team.ts';

/**
 * Runs a primitive on kernels whose memory it may use, and on a team if there is one; false, and nothing is
 * run, where these kernels cannot.
 */
export type RunOnKernels = (
  kernels: Kernels,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
  team: Team | null,
) => boolean;
