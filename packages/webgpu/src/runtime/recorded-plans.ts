import { InvalidArgumentError } from '@tilewise/core';
import type { GpuTensor } from './memory/gpu-tensor.ts';
import { isUnaligned } from './memory/tensor-storage.ts';
import type { KernelPlan } from './plan/kernel-plan.ts';
import type { PlanBuffer } from './plan/plan-tensors.ts';
import type { Recorder } from './recorder.ts';

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

/** The names of a tensor that is read and of one that is written. */
type NamePair = readonly [read: string, written: string];

/**
 * Plans for the ways in which tensors may start: kernels may move elements in vectors where tensors start at
 * one, which is known when they are there.
 * @param planFor makes the plan for tensors of which `unaligned` do not start where four of their elements
 * could be one vector, and `shared`, which are read, lie in buffers that are also written; `inPlace` are
 * those of `pairs` that start at one place.
 * @param pairs tensors that are read with those that may be written where they lie.
 */
export function recordedPlans<Options>(
  recorder: Recorder,
  planFor: (
    unaligned: readonly string[],
    shared: readonly string[],
    inPlace: readonly NamePair[],
  ) => KernelPlan<Options>,
  pairs: readonly NamePair[] = [],
): RecordedPlans<Options> {
  const plans = new Map<string, KernelPlan<Options>>();
  const planOf: typeof planFor = (unaligned, shared, inPlace) => {
    const key = [unaligned, shared, inPlace].join(';');
    const plan = plans.get(key) ?? planFor(unaligned, shared, inPlace);
    plans.set(key, plan);
    return plan;
  };
  const first = planOf([], [], []);
  const { workspaceBytes } = first;
  const [written, read] = (['read_write', 'read'] as const).map(access =>
    first.tensors.filter(tensor => tensor.access === access).map(({ name }) => name),
  );
  // Numbers of runs that the caller submits stay where they are: nobody says when they are done with.
  let isCallersToo = false;
  return {
    workspaceBytes,
    run(tensors, workspace, options) {
      const unaligned = Object.keys(tensors).filter(name => isUnaligned(tensors[name]));
      const shared = read.filter(name =>
        written.some(other => tensors[other]?.buffer === tensors[name]?.buffer),
      );
      const inPlace = pairs.filter(
        ([from, to]) =>
          tensors[from].buffer === tensors[to].buffer && tensors[from].byteOffset === tensors[to].byteOffset,
      );
      const plan = planOf(unaligned, shared, inPlace);
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
