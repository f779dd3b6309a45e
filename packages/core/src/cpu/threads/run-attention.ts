import { backward } from '../attention/backward/backward.ts';
import { forward } from '../attention/forward/forward.ts';
import type { RunBackward, RunForward } from '../attention/prepared-attention.ts';
import { hasSmallHeadGradients, smallHeadPlan } from '../attention/small-heads/plan.ts';
import type { SmallHeads } from '../attention/small-heads/small-heads.ts';
import { forwardSize, sharedBackward } from '../attention/tasks.ts';
import type { Variant } from '../kernels/variant.ts';
import { backwardOnThreads } from './passes/backward-on-threads.ts';
import { forwardOnThreads } from './passes/forward-on-threads.ts';
import type { OwnKernels } from './passes/run-on-threads.ts';
import { runPass } from './run-pass.ts';
import type { Workers } from './workers.ts';

/** The kernels, workers and small heads with which an engine runs attention. */
export interface AttentionResources {
  readonly variant: Variant;
  /** Null if everything runs on the calling thread. */
  readonly workers: Workers | null;
  /** The kernels of the calling thread, if it may compute besides the workers. */
  readonly own: OwnKernels | null;
  readonly smallHeads: SmallHeads;
}

/** Passes that run on the workers if they are large enough, and otherwise on the calling thread. */
export function createAttention({ variant, workers, own, smallHeads }: AttentionResources): {
  readonly forward: RunForward;
  readonly backward: RunBackward;
} {
  // A thread that may block shares small heads with the team, however many there are.
  const sharesHeads = own !== null && variant !== 'typescript';
  return {
    forward: (problem, given, into = {}) =>
      runPass(variant, workers, {
        ...{ problem, operands: given, into },
        multiplications: sharesHeads && smallHeadPlan(problem) ? 0 : forwardSize(problem),
        onThreads: (pool, taken) => forwardOnThreads(problem, taken, pool, { into, own }),
        onKernels: (operands, kernels) => forward(problem, operands, { kernels, smallHeads }, into),
      }),
    backward: (problem, given, targets = {}) =>
      runPass(variant, workers, {
        ...{ problem: problem.forward, operands: given, into: targets.into ?? {} },
        multiplications: sharesHeads && hasSmallHeadGradients(problem) ? 0 : sharedBackward(problem),
        onThreads: (pool, taken) => backwardOnThreads(problem, taken, pool, { into: targets.into, own }),
        onKernels: (operands, kernels) => backward(problem, operands, { kernels, smallHeads }, targets),
      }),
  };
}
