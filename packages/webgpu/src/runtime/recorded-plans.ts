import { InvalidArgumentError } from '@tilewise/core';
import type { BoundWork } from '@tilewise/core/primitive';
import { checkNotDestroyed, type GpuTensor, type MemoryState, memoryState } from './memory/gpu-tensor.ts';
import { isUnaligned } from './memory/tensor-storage.ts';
import type { KernelPlan, PlanRun } from './plan/kernel-plan.ts';
import type { PlanBuffer } from './plan/plan-tensors.ts';
import type { Recorder } from './recorder.ts';

/** Kernels that are bound to tensors, to be recorded any number of times. */
export interface RecordedWork extends BoundWork {
  readonly planned: PlanRun;
  /** The memory of the tensors, with the names of the tensors in errors. */
  readonly states: readonly (readonly [name: string, state: MemoryState])[];
}

/** Kernels that an engine records any number of times, on tensors with any start. */
export interface RecordedPlans<Options> {
  /** The size in bytes of the workspace that the kernels need if all tensors are aligned. */
  readonly workspaceBytes: number;
  /**
   * Records the kernels on tensors by name.
   * @throws InvalidArgumentError if the kernels need a workspace and none is given; otherwise as a plan does.
   */
  run(tensors: Readonly<Record<string, GpuTensor>>, workspace?: GpuTensor, options?: Options): void;
  /** Prepares further for runs on certain tensors. Throws as `run`, and so do the runs. */
  bind(tensors: Readonly<Record<string, GpuTensor>>, workspace?: GpuTensor, options?: Options): RecordedWork;
  release(): void;
}

/** The names of a tensor that is read and of a tensor that is written. */
type NamePair = readonly [read: string, written: string];

/** How the tensors of a run lie in their buffers, on which the kernels depend. */
export interface TensorPlacement {
  /** The tensors that start where four of their elements cannot be read as one vector. */
  readonly unaligned: readonly string[];
  /** The tensors that are read, and share a buffer with a tensor that is written. */
  readonly shared: readonly string[];
  /** The pairs whose two tensors start at the same offset of the same buffer. */
  readonly inPlace: readonly NamePair[];
}

/** The names of tensors that are bound in more than one way. */
export interface TensorNames {
  /** Tensors that are read, each with a tensor that may be written in its place. Default: none. */
  readonly pairs?: readonly NamePair[];
  /** The names of tensors in errors, if they differ from those that plans bind. */
  readonly argumentOf?: Readonly<Record<string, string>>;
}

/**
 * Makes a plan for each placement of tensors that occurs, because the placement is not known before a run.
 * @param planFor makes the plan for a placement.
 */
export function recordedPlans<Options>(
  recorder: Recorder,
  planFor: (placement: TensorPlacement) => KernelPlan<Options>,
  { pairs = [], argumentOf = {} }: TensorNames = {},
): RecordedPlans<Options> {
  const plans = new Map<string, KernelPlan<Options>>();
  const planOf = (placement: TensorPlacement): KernelPlan<Options> => {
    const key = Object.values(placement).join(';');
    const plan = plans.get(key) ?? planFor(placement);
    plans.set(key, plan);
    return plan;
  };
  const first = planOf({ unaligned: [], shared: [], inPlace: [] });
  const { workspaceBytes } = first;
  const [written, read] = (['read_write', 'read'] as const).map(access =>
    first.tensors.filter(tensor => tensor.access === access).map(({ name }) => name),
  );
  const placementOf = (tensors: Readonly<Record<string, GpuTensor>>): TensorPlacement => {
    const share = (a: string, b: string): boolean => tensors[a]?.buffer === tensors[b]?.buffer;
    return {
      unaligned: Object.keys(tensors).filter(name => isUnaligned(tensors[name])),
      shared: read.filter(name => written.some(other => share(name, other))),
      inPlace: pairs.filter(
        ([from, to]) => share(from, to) && tensors[from].byteOffset === tensors[to].byteOffset,
      ),
    };
  };
  // The parameters of runs that the caller submits are kept, because nothing reports when the GPU has
  // finished with them.
  let isCallersToo = false;
  const bind: RecordedPlans<Options>['bind'] = (tensors, workspace, options) => {
    const plan = planOf(placementOf(tensors));
    if (plan.workspaceBytes > 0 && !workspace) {
      throw new InvalidArgumentError('workspace', `must be a tensor of ${plan.workspaceBytes} bytes`);
    }
    const buffers: Record<string, PlanBuffer> = { ...tensors };
    if (workspace) buffers.workspace = { buffer: workspace.buffer, offset: workspace.byteOffset };
    const planned = plan.prepare(buffers, options);
    const recorded = {
      run: planned,
      afterwards() {
        if (!isCallersToo) plan.retire();
      },
    };
    // The states, not the tensors, so that bound work does not keep tensors alive that nobody destroyed.
    const states = Object.entries(tensors).map(
      ([name, tensor]) => [argumentOf[name] ?? name, memoryState(tensor)] as const,
    );
    return {
      ...{ planned, states },
      run() {
        for (const [name, state] of states) checkNotDestroyed(name, state);
        isCallersToo ||= recorder.isCallers;
        recorder.record(recorded);
      },
      release() {},
    };
  };
  return {
    workspaceBytes,
    bind,
    run: (...call) => bind(...call).run(),
    release() {
      for (const plan of plans.values()) plan.destroy();
      plans.clear();
    },
  };
}
