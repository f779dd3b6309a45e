import type { BackwardOperands, BackwardProblem } from '../../../attention/problem/problem.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import {
  allocateBackward,
  type BackwardResults,
  type BackwardTargets,
  finishBackward,
} from '../../attention/backward/backward.ts';
import { runBackward } from '../../attention/backward/backward-pass.ts';
import type { PartsOfDq } from '../../attention/backward/sums.ts';
import { backwardTasks, headGroups, headsThatShare } from '../../attention/tasks.ts';
import { type TileSize, tileSizeOf } from '../../attention/tiles/tile-size.ts';
import { padded } from '../../kernels/interface/panel.ts';
import { sendProblem } from '../message.ts';
import type { Pool } from '../pool.ts';
import type { SharedBuffers } from '../shared/shared-buffers.ts';
import { allocateShared, sharedOf, zeros } from '../shared/shared-tensors.ts';
import type { TakenOperands } from '../shared/taken-operands.ts';
import { runOnThreads, type ThreadsOptions } from './run-on-threads.ts';

/**
 * Runs `backward` on the workers of a pool, as `forwardOnThreads` does. Not for problems in which a gradient
 * is a sum over several tasks.
 */
export function backwardOnThreads(
  problem: BackwardProblem,
  taken: TakenOperands<BackwardOperands<Tensor>>,
  pool: Pool,
  { into = {}, tiles, own = null }: ThreadsOptions<BackwardTargets['into']> = {},
): Promise<BackwardResults> {
  const { take } = taken.buffers;
  const allocateBytes = (bytes: number) => new Uint8Array(zeros(take(bytes)));
  const results = {
    ...allocateBackward(problem, allocateShared({ take }), allocateBytes, sharedOf(into)),
    dqParts: allocateParts(problem, pool.threads, take, tiles),
  };
  return runOnThreads(pool, own, taken, {
    ...{ results, into },
    passOf: shared => ({
      ...shared,
      kind: 'backward',
      problem: { ...problem, forward: sendProblem(problem.forward) },
      tiles,
    }),
    compute: (kernels, claim) =>
      runBackward(problem, taken.operands, { kernels, tiles, threads: pool.threads }, results, claim).amax,
    finish: (done, amax) => finishBackward(problem, done, { dCaptures: null, amax }, into),
  });
}

/** Memory for the dq of heads whose keys the threads share; null if they share none. */
function allocateParts(
  problem: BackwardProblem,
  threads: number,
  take: SharedBuffers['take'],
  tiles: TileSize = tileSizeOf(problem.forward),
): PartsOfDq | null {
  const { slots } = backwardTasks(problem, tiles, threads);
  if (slots === 0 || !problem.gradients.includes('dq')) return null;
  const { Sq, Dqk } = problem.forward;
  return {
    sums: new Float32Array(take(4 * slots * headsThatShare(problem.forward) * Sq * padded(Dqk))),
    done: new Int32Array(zeros(take(4 * headGroups(problem.forward)))),
  };
}
