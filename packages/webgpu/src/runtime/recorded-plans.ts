import { InvalidArgumentError } from '@tilewise/core';
import type { GpuTensor } from './gpu-tensor.ts';
import type { KernelPlan } from './plan/kernel-plan.ts';
import type { PlanBuffer } from './plan/plan-tensors.ts';
import type { Recorder } from './recorder.ts';
import { isUnaligned } from './tensor-storage.ts';

/** Kernels that an engine records any number of times, on tensors that start anywhere. */
export interface RecordedPlans<Options> {
  /** Bytes of memory that the kernels need where all tensors are aligned. */
  readonly workspaceBytes: number;
  /**
   * Records the kernels on tensors by name.
   * @throws InvalidArgumentError when there is no workspace and the kernels need one, and as a plan does.
   */
  run(tensors: Readonly<Record<string, GpuTensor>>, workspace?: GpuTensor, options?: Options): void;
  release(): void;
}

/**
 * Plans for the ways in which tensors may start: kernels may move elements in vectors where tensors start at
 * one, which is known when they are there.
 * @param planFor makes the plan for tensors of which these do not start where four of their elements could be
 * one vector.
 */
export function recordedPlans<Options>(
  recorder: Recorder,
  planFor: (unaligned: readonly string[]) => KernelPlan<Options>,
): RecordedPlans<Options> {
  const plans = new Map<string, KernelPlan<Options>>();
  const planOf = (unaligned: readonly string[]): KernelPlan<Options> => {
    const key = unaligned.join();
    const plan = plans.get(key) ?? planFor(unaligned);
    plans.set(key, plan);
    return plan;
  };
  const { workspaceBytes } = planOf([]);
  // Numbers of runs that the caller submits stay where they are: nobody says when they are done with.
  let isCallersToo = false;
  return {
    workspaceBytes,
    run(tensors, workspace, options) {
      const plan = planOf(
        Object.entries(tensors)
          .filter(([, tensor]) => isUnaligned(tensor))
          .map(([name]) => name),
      );
      if (plan.workspaceBytes > 0 && !workspace) {
        throw new InvalidArgumentError('workspace', `must be a tensor of ${plan.workspaceBytes} bytes`);
      }
      const buffers: Record<string, PlanBuffer> = { ...tensors };
      if (workspace) buffers.workspace = { buffer: workspace.buffer, offset: workspace.byteOffset };
      isCallersToo ||= recorder.isCallers;
      recorder.record({
        run: plan.prepare(buffers, options),
        afterwards() {
          if (!isCallersToo) plan.retire();
        },
      });
    },
    release() {
      for (const plan of plans.values()) plan.destroy();
      plans.clear();
    },
  };
}
