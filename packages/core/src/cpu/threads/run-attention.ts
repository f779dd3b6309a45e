import type { AttentionProblem, Operands } from '../../attention/problem/problem.ts';
import { allocateBy } from '../../tensor/allocate.ts';
import { checkStorage } from '../../tensor/checks/check-storage.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { backward } from '../attention/backward/backward.ts';
import { forward } from '../attention/forward/forward.ts';
import type { RunBackward, RunForward } from '../attention/prepared-attention.ts';
import { hasSmallHeadGradients, smallHeadPlan } from '../attention/small-heads/plan.ts';
import type { SmallHeads } from '../attention/small-heads/small-heads.ts';
import { forwardSize, sharedBackward, WORTH_THREADS } from '../attention/tasks.ts';
import { compileEngineKernels, engineKernels } from '../kernels/engine-kernels.ts';
import { kernelModules } from '../kernels/host-kernels.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { holdResident } from '../kernels/memory/resident-tensors.ts';
import type { Variant } from '../kernels/variant.ts';
import { type Pool, WorkerFailure } from './pool.ts';
import { tensorsIn } from './shared/operand-parts.ts';
import { copyPart, moved } from './shared/shared-tensors.ts';
import { type TakenOperands, takeOperands } from './shared/taken-operands.ts';
import { backwardOnThreads, forwardOnThreads, type OwnKernels } from './threaded.ts';
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

/** A pass, and how it runs on threads or on the kernels of one thread. */
interface Pass<O, R> {
  /** The multiplications that threads would share; 0 to stay on the calling thread. */
  readonly multiplications: number;
  readonly problem: AttentionProblem;
  readonly operands: O;
  /** Existing tensors for the results. */
  readonly into: object;
  onThreads(pool: Pool, taken: TakenOperands<O>): Promise<R>;
  onKernels(operands: O, kernels: Kernels): R;
}

/** Passes that run on the workers if they are large enough, and otherwise on the calling thread. */
export function createAttention({ variant, workers, own, smallHeads }: AttentionResources): {
  readonly forward: RunForward;
  readonly backward: RunBackward;
} {
  /**
   * Runs on threads if they work, and otherwise on this thread, because a page may forbid workers, or a
   * worker may run out of memory. Before it returns, the operands have been read or copied. A small pass on
   * kernels that are compiled returns its results and not a promise, so that an eager call makes one promise
   * and not two.
   */
  function run<O extends Operands<Tensor>, R>(pass: Pass<O, R>): R | Promise<R> {
    const { multiplications, operands, into, onKernels } = pass;
    const here = (given: O): R => {
      checkStorage(into);
      return engineKernels.withKernels(variant, kernels => onKernels(given, kernels));
    };
    if (workers && multiplications >= WORTH_THREADS && workers.pool !== null) {
      // The workers use operands and results in the memory of the kernels in place, and the caller may
      // release them in the meantime.
      return onWorkers(workers, pass, here).finally(holdResident(tensorsIn([operands, into])));
    }
    if (variant === 'typescript' || kernelModules.get(variant)) return here(operands);
    const { tensors, copies } = moved(operands, bytes => allocateBy(n => new ArrayBuffer(n), bytes));
    for (const copy of copies) copyPart(copy, 0, 1);
    return compileEngineKernels(variant).then(() => here(tensors));
  }

  async function onWorkers<O extends Operands<Tensor>, R>(
    workers: Workers,
    { problem, operands, onThreads }: Pass<O, R>,
    here: (operands: O) => R,
  ): Promise<R> {
    const taken = takeOperands(problem, operands);
    if (!workers.pool) {
      taken.arrive();
      await workers.started();
    }
    const { pool } = workers;
    if (pool) {
      try {
        return await onThreads(pool, taken);
      } catch (error) {
        if (!(error instanceof WorkerFailure)) throw error;
        if (!error.isOfCall) workers.giveUp();
      }
    }
    return here(taken.operands);
  }

  // A thread that may block shares small heads with the team, however many there are.
  const sharesHeads = own !== null && variant !== 'typescript';
  return {
    forward: (problem, given, into = {}) =>
      run({
        ...{ problem, operands: given, into },
        multiplications: sharesHeads && smallHeadPlan(problem) ? 0 : forwardSize(problem),
        onThreads: (pool, taken) => forwardOnThreads(problem, taken, pool, { into, own }),
        onKernels: (operands, kernels) => forward(problem, operands, { kernels, smallHeads }, into),
      }),
    backward: (problem, given, targets = {}) =>
      run({
        ...{ problem: problem.forward, operands: given, into: targets.into ?? {} },
        multiplications: sharesHeads && hasSmallHeadGradients(problem) ? 0 : sharedBackward(problem),
        onThreads: (pool, taken) => backwardOnThreads(problem, taken, pool, { into: targets.into, own }),
        onKernels: (operands, kernels) => backward(problem, operands, { kernels, smallHeads }, targets),
      }),
  };
}
