import { checkStorage } from '../../../tensor/checks/check-storage.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import type { Claim } from '../../attention/tasks.ts';
import type { TileSize } from '../../attention/tiles/tile-size.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { type Amax, joinAmax } from '../amax.ts';
import type { BackwardPass, ForwardPass, Pass } from '../message.ts';
import type { Pool } from '../pool.ts';
import { deliver, receivers, type Sent, send } from '../shared/shared-tensors.ts';
import type { TakenOperands } from '../shared/taken-operands.ts';

/** Runs work on the kernels of the calling thread. */
export type OwnKernels = <R>(work: (kernels: Kernels) => R) => R;

/** How threads run a pass. */
export interface ThreadsOptions<Into> {
  /** Existing tensors to write results to. Threads write those in shared memory in place. */
  readonly into?: Into | undefined;
  /** The size of tiles, if not the default. */
  readonly tiles?: TileSize | undefined;
  /**
   * The kernels of the calling thread, if it may compute instead of the first worker, which blocks it.
   */
  readonly own?: OwnKernels | null | undefined;
}

/** The fields of a pass that workers share, whatever the pass computes. */
type SharedPass<O, R> = Omit<Pass, 'tiles'> & {
  readonly operands: Sent<O>;
  readonly results: Sent<R>;
};

/** The computation of a pass on threads, and the memory for its results. */
interface Work<O, R, Result> {
  /** The results of all threads, in shared memory. */
  readonly results: R;
  /** Tensors for the results; new ones are made for the others. */
  readonly into: Readonly<Partial<Record<keyof R, Tensor | null>>>;
  /** The message to the workers. */
  passOf(shared: SharedPass<O, R>): ForwardPass | BackwardPass;
  /** Computes the claimed tasks on the calling thread. */
  compute(kernels: Kernels, claim: Claim): Amax;
  /** The result of the call, from the values of all results. */
  finish(done: R, amax: Amax): Result;
}

/** A number of claimed tasks that no pass has. */
const ALL_CLAIMED = 2 ** 30;

/**
 * Runs a pass. If a worker fails, the others finish the tasks that they have claimed, and claim no more.
 */
export async function runOnThreads<O, R extends object, Result>(
  pool: Pool,
  own: OwnKernels | null,
  { operands, arrivals, arrive, buffers }: TakenOperands<O>,
  { results, into, passOf, compute, finish }: Work<O, R, Result>,
): Promise<Result> {
  const claimed = new Int32Array(new SharedArrayBuffer(4));
  const sent = { operands: send(operands), results: send(results) };
  // While the workers are busy with another pass, this thread would do all the work.
  const helper = pool.isIdle ? own : null;
  const passing = pool.run(passOf({ ...sent, threads: pool.threads, claimed, arrivals }), !helper);
  arrive();
  // The workers compute in the meantime.
  const targets = receivers(results, into);
  const amaxOfOwn = helper ? runShare(helper, compute, claimed) : {};
  const replies = await passing.catch(error => {
    Atomics.store(claimed, 0, ALL_CLAIMED);
    throw error;
  });
  try {
    const all = [await amaxOfOwn, ...replies.map(({ amax }) => amax ?? {})];
    checkStorage(into);
    deliver(results, targets);
    return finish(targets, joinAmax(all));
  } finally {
    buffers.release();
  }
}

/**
 * Runs the share of the calling thread at once. If it throws before it has claimed a task, the workers do all
 * of them; otherwise the promise rejects.
 */
function runShare(
  own: OwnKernels,
  compute: (kernels: Kernels, claim: Claim) => Amax,
  claimed: Int32Array,
): Promise<Amax> {
  let hasClaimed = false;
  const claim = (): number => {
    hasClaimed = true;
    return Atomics.add(claimed, 0, 1);
  };
  const done = new Promise<Amax>((resolve, reject) => {
    try {
      resolve(own(kernels => compute(kernels, claim)));
    } catch (error) {
      if (hasClaimed) reject(error);
      else resolve({});
    }
  });
  // The caller awaits it after the workers.
  done.catch(() => undefined);
  return done;
}
