import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import type { Team } from '../team/team.ts';

/**
 * Runs a primitive on kernels, whose memory it may use, and on a team if there is one. Returns false, and
 * runs nothing, if these kernels cannot run it.
 */
export type RunOnKernels = (
  kernels: Kernels,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
  team: Team | null,
) => boolean;
