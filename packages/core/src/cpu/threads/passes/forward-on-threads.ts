import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { SdpaResult } from '../../../engine/engine.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { forwardResult } from '../../attention/forward/forward.ts';
import { runForward } from '../../attention/forward/forward-pass.ts';
import { allocateForward, type ForwardResults } from '../../attention/forward/forward-results.ts';
import { sendProblem } from '../message.ts';
import type { Pool } from '../pool.ts';
import { allocateShared, sharedOf } from '../shared/shared-tensors.ts';
import type { TakenOperands } from '../shared/taken-operands.ts';
import { runOnThreads, type ThreadsOptions } from './run-on-threads.ts';

/**
 * Runs `forward` on the workers of a pool and, with `own`, on this thread instead of the first worker. When
 * this returns its promise, the operands have been copied; when the promise resolves, the copies have been
 * freed.
 * @throws WorkerFailure; InvalidArgumentError if a tensor of `into` has lost its storage in the meantime.
 */
export function forwardOnThreads(
  problem: AttentionProblem,
  taken: TakenOperands<Operands<Tensor>>,
  pool: Pool,
  { into = {}, tiles, own = null }: ThreadsOptions<Partial<ForwardResults>> = {},
): Promise<SdpaResult<Tensor>> {
  const results = allocateForward(problem, allocateShared(taken.buffers), sharedOf(into));
  return runOnThreads(pool, own, taken, {
    ...{ results, into },
    passOf: shared => ({ ...shared, kind: 'forward', problem: sendProblem(problem), tiles }),
    compute: (kernels, claim) =>
      runForward(problem, taken.operands, { kernels, tiles, threads: pool.threads }, results, claim),
    finish: (done, amax) => forwardResult(problem, taken.operands, done, { amaxS: 0, amaxO: 0, ...amax }),
  });
}
