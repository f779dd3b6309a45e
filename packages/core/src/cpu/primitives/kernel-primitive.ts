import type { Tensor } from '../../tensor/tensor.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import type { Step } from '../steps/step.ts';
import type { Team } from '../team/team.ts';

/** A primitive that kernels run, whose memory it may use. */
export interface KernelPrimitive {
  /**
   * Runs the primitive once, on a team if there is one. Returns false, and runs nothing, if these kernels
   * cannot run it.
   */
  run(kernels: Kernels, inputs: readonly Tensor[], outputs: readonly Tensor[], team: Team | null): boolean;
  /**
   * The primitive as steps on tensors in the memory of the kernels, for repeated runs; null if TypeScript
   * computes a part of it. The steps use panels of the memory until its generation changes.
   */
  steps?(kernels: Kernels, inputs: readonly Tensor[], outputs: readonly Tensor[]): readonly Step[] | null;
}
