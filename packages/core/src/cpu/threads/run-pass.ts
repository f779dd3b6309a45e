import type { AttentionProblem, Operands } from '../../attention/problem/problem.ts';
import { allocateBy } from '../../tensor/allocate.ts';
import { checkStorage } from '../../tensor/checks/check-storage.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { WORTH_THREADS } from '../attention/tasks.ts';
import { compileEngineKernels, engineKernels } from '../kernels/engine-kernels.ts';
import { kernelModules } from '../kernels/host-kernels.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { holdResident } from '../kernels/memory/resident-tensors.ts';
import type { Variant } from '../kernels/variant.ts';
import { type Pool, WorkerFailure } from './pool.ts';
import { tensorsIn } from './shared/operand-parts.ts';
import { copyPart, moved } from './shared/shared-tensors.ts';
import { type TakenOperands, takeOperands } from './shared/taken-operands.ts';
import type { Workers } from './workers.ts';

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

/**
 * Runs a pass on the workers if it is large enough and they work, and otherwise on the calling thread,
 * because a page may forbid workers, or a worker may run out of memory. Before it returns, the operands have
 * been read or copied. A small pass on kernels that are compiled returns its results and not a promise, so
 * that an eager call makes one promise and not two.
 */
export function runPass<O extends Operands<Tensor>, R>(
  variant: Variant,
  workers: Workers | null,
  pass: Pass<O, R>,
): R | Promise<R> {
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
